#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Why each arm's memory is warmed under that arm's own levers: seconds of a run after a toucher of the same kind of page
# and of the other kind. warmth.sh [SIZE [ROUNDS]] (default 2G 3); docs/METHOD.md section 2 has the figures.
set -eu
cd "$(dirname "$0")/../.."
size=${1:-2G}
rounds=${2:-3}
run=build/native/launch/okosu-run
bytes=$(( ${size%G} * 1342177280 ))
for round in $(seq "$rounds"); do
    for arm in --skip=pin --superpage=thp; do
        for toucher in --skip=pin --superpage=thp; do
            $run $toucher -- build/native/measure/okosu-warm "$bytes"
            seconds=$(build/native/measure/okosu-measure -- $run $arm -- build/examples/chase "$size" |
                sed 's/.*"wall_ns": \([0-9]*\).*/\1/' | awk '{ printf "%.2f", $1 / 1e9 }')
            case $arm in *skip*) is=small ;; *) is=huge ;; esac
            case $toucher in *skip*) was=small ;; *) was=huge ;; esac
            echo "round $round: $is pages after a toucher of $was pages: $seconds s"
        done
    done
done
