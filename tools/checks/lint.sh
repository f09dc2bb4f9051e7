#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Style and types: ruff, mypy. clang-format where it is installed.
set -eu
cd "$(dirname "$0")/../.."
.venv/bin/ruff check --quiet okosu lab papers tests tools
.venv/bin/mypy --no-error-summary --cache-dir "${TMPDIR:-/tmp}/okosu-mypy-$(id -u)"
if command -v clang-format >/dev/null; then
    find native examples tests lab papers tools \( -name '*.[ch]' -o -name '*.cpp' \) -print0 | xargs -0 clang-format --dry-run --Werror
fi
# A script that does not parse would fail only when somebody needs it.
for script in tools/*.sh tools/*/*.sh tools/*/*/*.sh examples/real/*.sh papers/*/*.sh papers/*/*/*.sh .ci/run; do sh -n "$script"; done
# The documents' figures are those of the committed records.
.venv/bin/python tools/readme.py --check
