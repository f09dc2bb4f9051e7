#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what checks the native part with the address and undefined sanitizers into build-san and runs it there: a part of
# the cases and of the sources, or all of them where OKOSU_LAB is set.
set -eu
cd "$(dirname "$0")/../.."
. .venv/bin/activate
all=false
[ -z "${OKOSU_LAB:-}" ] || all=true
options="-Db_sanitize=address,undefined -Db_lundef=false -Dsanitize_all=$all --buildtype=debug"
# shellcheck disable=SC2086
if [ -f build-san/build.ninja ]; then meson configure build-san $options; else meson setup build-san $options >/dev/null; fi
ninja -C build-san --quiet meson-test-prereq
some='--no-suite long'
if [ -n "${OKOSU_LAB:-}" ]; then
    some=''
else
    # A prime number, so that over the sizes every offset has its turn.
    export OKOSU_CHECK_STEP=13
fi
# From 13 on, GCC's address sanitizer keeps variables on a stack of its own unless it is told not to, and aligns them there
# to less than the 64 bytes of an AVX-512 vector: a program without a fault crashes.
export ASAN_OPTIONS=halt_on_error=1:abort_on_error=1:detect_stack_use_after_return=0
# The search for leaks stops the program's threads by ptrace, which a container may refuse.
if build/native/measure/okosu-measure -- true | grep -q '"traced": false'; then
    echo "okosu: leaks are not searched for: ptrace is refused here" >&2
    ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
fi
# The time-outs in meson.build are those of a fast machine: they only end what hangs.
# shellcheck disable=SC2086
meson test -C build-san --quiet --print-errorlogs --no-rebuild --timeout-multiplier 20 $some
