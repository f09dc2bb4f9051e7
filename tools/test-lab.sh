#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long tests: one entry for each system, with the minutes it may take cold on two cores.
set -eu
cd "$(dirname "$0")/.."
# okosu try's own acceptance test, 10 minutes.
.venv/bin/okosu selftest
# The wheel in an environment of its own and the report in a real browser: 2 minutes. The library on AArch64 under
# qemu-user, 3 minutes. Placement on a QEMU guest of four nodes, arrays beyond 2^31 bytes, a quick reproduction: 4.
# Kernels under User-Mode Linux: 8 minutes cold, 1 warm. The scheduling hardware with its proofs: 13 minutes cold. Huge
# pages cleared ahead: 9 minutes cold, 4 of which build the kernel of all that run under QEMU; pages by colour: 9, of which
# the same 4. OKOSU_LAB=full adds whole builds of every commit and the survey.
# With OKOSU_LIBHUGETLBFS=DIR, where it has been built, also libhugetlbfs's own tests, on two kernels: papers/zero_offload/README.md.
command -v chromium >/dev/null || tools/chromium.sh
tools/lab-deps.sh
OKOSU_LAB="${OKOSU_LAB:-1}" .venv/bin/python -m pytest tests/long lab/tests/long papers tests/unit/test_report_browser.py
# OpenCL is there only now. Pages of 1 GiB by each engine; OKOSU_LAB=full adds 100,000 takes and returns of the pool's
# blocks under each sanitizer, over threads and over processes beside the daemon.
OKOSU_LAB="${OKOSU_LAB:-1}" .venv/bin/python -m pytest tests/native/test_zerod.py tests/native/test_zero_engines_bench.py \
    tests/native/test_zero_pool.py tests/native/test_zero_broker.py -k "opencl or gibibyte or under or every_block or killed"
