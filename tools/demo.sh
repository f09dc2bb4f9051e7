#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lets okosu find out, live, which levers help four programs that know nothing of it, and draws the report. The sizes are such
# that each is decided in a few rounds of about a second, and a winner is not measured more finely than to 15 %.
set -eu
cd "$(dirname "$0")/.."
out=${OKOSU_DEMO_DIR:-build/demo}
mkdir -p "$out"

try() {
    name=$1
    shift
    printf '\n$ okosu try --precision 15%% %s\n' "$*"
    .venv/bin/okosu try --precision 15% --seed 1 --force --json "$out/$name.json" "$@"
}

# Budgets are what a slow or busy machine may take: a trial ends when it is decided.
# A program that nobody here wrote: large texts that come and go.
try python --levers retain --budget 30m -- /usr/bin/python3 -S -c 't = "some words " * 4000000; print(sum(len(t.upper()) for i in range(6)))'
# A table beyond the reach of the TLB.
try chase --levers superpage --budget 30m -- build/examples/chase 128M 6M
try churn --levers retain --budget 30m -- build/examples/churn 12
# Arithmetic in registers, which no lever of okosu's can help.
try spin --levers pin --max-rounds 8 --budget 4m -- build/examples/spin 200
.venv/bin/okosu report "$out/python.json" "$out/chase.json" "$out/churn.json" "$out/spin.json" -o "$out/report.html"
