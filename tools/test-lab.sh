#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long tests: one entry for each system, with the minutes it may take cold on two cores.
set -eu
cd "$(dirname "$0")/.."
# okosu try's own acceptance test, 10 minutes.
.venv/bin/okosu selftest
