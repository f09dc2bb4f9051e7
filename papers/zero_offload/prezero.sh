#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The trials that the lever prezero is held to, and their records: prezero.sh [FOLDER [TRIAL…]] (default records/DATE, and
# all of them, two minutes each at most).
set -eu
cd "$(dirname "$0")/../.."
out=${1:-records/$(date +%F)}
[ $# -eq 0 ] || shift
only=" $* "
mkdir -p "$out"

# Whether a trial is to be done: a records file that is there already is one that was.
wanted() {
    case "$only" in
    "  " | *" $1 "*) [ ! -s "$out/$1.json" ] ;;
    *) false ;;
    esac
}

trial() {
    name=$1
    shift
    wanted "$name" || return 0
    printf '\n== %s\n' "$name"
    .venv/bin/okosu try --seed 1 --levers prezero --budget 2m --json "$out/$name.json" "$@"
}

churn() { trial "$@" -- build/examples/churn 40 1 calloc; }
numpy() {
    name=$1 mib=$2 turns=$3
    shift 3
    trial "$name" "$@" -- .venv/bin/python examples/real/numpy-temporaries.py "$mib" "$turns"
}

churn prezero-churn --expect prezero=faster
numpy prezero-numpy-8m 8 160 --expect prezero=faster
numpy prezero-numpy-64m 64 40
wanted prezero-churn-busy || wanted prezero-numpy-8m-busy || exit 0
# An endless loop on each CPU, so that none idles: not longer than both trials take, whatever becomes of this script.
hogs=
trap 'kill $hogs 2>/dev/null' EXIT
for _ in $(seq "$(nproc)"); do
    timeout 300 sh -c 'while :; do :; done' &
    hogs="$hogs $!"
done
churn prezero-churn-busy
numpy prezero-numpy-8m-busy 8 160
