#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long tests, within an hour cold on two cores. OKOSU_LAB=full adds whole builds of every commit, the survey and the
# longest lengths.
set -eu
cd "$(dirname "$0")/../.."
export OKOSU_LAB="${OKOSU_LAB:-1}"
# The report is looked at in a browser where one can be had.
if ! command -v chromium >/dev/null && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    DEBIAN_FRONTEND=noninteractive sh -c 'apt-get install -y --no-install-recommends chromium || {
        apt-get update -qq && apt-get install -y --no-install-recommends chromium; }' >/dev/null 2>&1 ||
        echo "okosu: the report is not checked in a browser (fix: apt-get install chromium, as root)" >&2
fi
tools/setup/lab-deps.sh
# The series' documents are read by Sphinx, and their sources by Coccinelle's rules, where these can be had.
if [ "$OKOSU_LAB" = full ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-sphinx python3-yaml coccinelle >/dev/null 2>&1 ||
        echo "okosu: the series are not read by Sphinx and Coccinelle (fix: apt-get install python3-sphinx python3-yaml coccinelle)" >&2
fi
# What `make build` leaves out, because only the long tests want it.
.venv/bin/ninja -C build --quiet vec-inlines
# okosu try's own acceptance test measures, so that nothing else may run beside it: a quarter of an hour.
.venv/bin/okosu selftest
tools/checks/sanitize.sh
# What `make test` leaves out or keeps short (of hypothesis, fewer examples), and what wants OpenCL, there only now.
# No kernel is built there, so that one that hangs is named before CI's own limit ends all of it.
set -- .venv/bin/python -m pytest --timeout "$([ "$OKOSU_LAB" = full ] && echo 5400 || echo 1200)"
beside="tests tools/mutation lab/tests papers/*/tests --ignore-glob=*/long/*"
"$@" -n auto --dist worksteal -m '(lab or long or hypothesis) and not privileged and not alone' $beside
"$@" -m '(lab or long) and alone' $beside || [ $? -eq 5 ]
"$@" tests/native/test_zerod.py papers/zero_offload/tests/test_engines_bench.py \
    tests/native/test_zero_pool.py tests/native/test_zero_broker.py -k "opencl or gibibyte or every_block or killed"
# Files of tests are independent, and what they share (kernels, simulators) is built once, under a lock. A cold build of a
# kernel on a slow machine is part of the first test that wants it.
set -- .venv/bin/python -m pytest --timeout 5400
"$@" -m alone tests/long lab/tests/long papers/*/tests/long || [ $? -eq 5 ]
"$@" -n auto --dist loadfile --no-loadscope-reorder -m 'not alone' \
    tests/long tools/tests/long lab/tests/long papers/*/tests/long tests/unit/test_report_browser.py
# What the series are on the other base: its source is fetched, and its kernels are built.
if [ "$OKOSU_LAB" = full ]; then
    OKOSU_BASE=7.3 "$@" papers/simd_kernel/tests/long/test_um_copy.py papers/simd_kernel/tests/long/test_um_rep_movs.py \
        lab/tests/long/test_x86_boot.py lab/tests/long/test_series_checks.py papers/common/tests/long/test_together.py \
        papers/common/tests/long/test_uffd_unregister.py papers/superpage_colouring/tests/long --ignore-glob='*/test_paper.py'
    zero=papers/zero_offload/tests/long
    OKOSU_BASE=7.3 "$@" $zero/test_series.py $zero/test_series_checks.py $zero/test_thread.py $zero/test_cost.py \
        $zero/test_debug.py $zero/test_kcsan.py $zero/test_selftests.py $zero/test_memory.py $zero/test_hotplug.py \
        $zero/test_cma.py
fi
