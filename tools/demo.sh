#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lets okosu find out, live, which levers help three programs that know nothing of it, and draws the report.
set -eu
cd "$(dirname "$0")/.."
out=${OKOSU_DEMO_DIR:-build/demo}
mkdir -p "$out"
# A table beyond the reach of the TLB, but never more than a third of the memory that is there.
third=$(awk '/MemAvailable/ { print int($2 / 3 / 1024) }' /proc/meminfo)
table="$((third > 1024 ? 1024 : third))M"

try() {
    name=$1
    shift
    printf '\n$ okosu try %s\n' "$*"
    .venv/bin/okosu try --seed 1 --json "$out/$name.json" "$@"
}

# Budgets are what a slow or busy machine may take: a trial ends when it is decided.
try chase --levers superpage --budget 12m -- build/examples/chase "$table"
try churn --levers retain,superpage --budget 8m -- build/examples/churn
try spin --levers pin,superpage,retain --budget 40s -- build/examples/spin
.venv/bin/okosu report "$out/chase.json" "$out/churn.json" "$out/spin.json" -o "$out/report.html"
