#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The trials that okosu try is held to, and their records: acceptance.sh [FOLDER] (default records/DATE).
set -eu
cd "$(dirname "$0")/.."
out=${1:-records/$(date +%F)}
okosu=.venv/bin/okosu
mkdir -p "$out"

trial() {
    name=$1
    shift
    printf '\n== %s\n' "$name"
    # A records file that is there already is a trial that was done: the script can be run again after an interruption.
    [ -s "$out/$name.json" ] || $okosu try --seed 1 --json "$out/$name.json" "$@"
}

# superpage at least 1.3x faster, at least 95 % of the table on huge pages, confirmed; the placebo neither faster nor slower.
trial chase-4g --budget 9m --levers superpage --expect superpage=faster -- build/examples/chase 4G
# CHASE8=1 adds the larger table: it takes half an hour, most of it touching memory.
[ -z "${CHASE8:-}" ] || trial chase-8g --budget 40m --levers superpage --expect superpage=faster -- build/examples/chase 8G
# The verdict follows the number of updates: first touch dominates the short run.
trial gups-1g-20m --budget 5m --levers superpage -- build/examples/gups 1G 20M
trial gups-1g-100m --budget 8m --levers superpage -- build/examples/gups 1G 100M
trial gups-1g-400m --budget 10m --levers superpage --max-rounds 10 -- build/examples/gups 1G 400M
# retain and superpage at least 2x faster each, and their stack measured on fresh rounds.
trial churn --budget 6m --expect retain=faster --expect superpage=faster -- build/examples/churn
# Nothing can be gained: never faster or slower, in 20 tries.
alarms=0
for seed in $(seq 1 20); do
    [ -s "$out/spin-$seed.json" ] || $okosu try --seed "$seed" --max-rounds 10 --budget 60s --levers pin,superpage,retain --json "$out/spin-$seed.json" -- build/examples/spin >/dev/null 2>&1
    grep -Eq '"verdict": "(FASTER|SLOWER|NOT CONFIRMED)"' "$out/spin-$seed.json" && alarms=$((alarms + 1))
done
echo "spin: $alarms of 20 tries ended in FASTER or SLOWER"
[ "$alarms" -eq 0 ]
