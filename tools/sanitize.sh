#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the native part with address and undefined sanitizers into build-san and runs its unit tests and fuzzers there.
set -eu
cd "$(dirname "$0")/.."
. .venv/bin/activate
[ -f build-san/build.ninja ] || meson setup build-san -Db_sanitize=address,undefined -Db_lundef=false --buildtype=debug >/dev/null
ninja -C build-san --quiet
meson test -C build-san --quiet --print-errorlogs
