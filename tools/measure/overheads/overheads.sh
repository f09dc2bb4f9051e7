#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What okosu itself costs: the launcher, the inert hooks of the preload library, and the start of the commands.
# Each pair is measured in turn, and the smallest of several repetitions (hooks) or the median (launcher) is shown.
set -eu
cd "$(dirname "$0")/../../.."
rounds=${1:-500}
launcher=build/native/launch/okosu-run

echo "launcher, spawn to exit of /bin/true (target: at most 1 ms more):"
for options in "" --placebo --retain=on --superpage=thp --pin=compact; do
    # shellcheck disable=SC2086
    printf '  %-16s %s\n' "${options:-no lever}" "$(build/tools/measure/overheads/launch_overhead "$rounds" $launcher /bin/true $options)"
done

echo "inert hooks, ns per malloc + free (targets: small at most 3 ns more, random and blocks at most 1 %):"
for loop in small random blocks; do
    plain=""
    hooked=""
    for _ in 1 2 3 4 5 6 7; do
        plain="$plain $($launcher -- build/tools/measure/overheads/alloc_bench $loop)"
        hooked="$hooked $($launcher --placebo -- build/tools/measure/overheads/alloc_bench $loop)"
    done
    echo "$plain $hooked" | awk -v loop=$loop '{
        n = NF / 2; a = $1; b = $(n + 1)
        for (i = 2; i <= n; i++) { if ($i < a) a = $i; if ($(n + i) < b) b = $(n + i) }
        printf "  %-8s %.2f plain, %.2f hooked: %+.2f ns, %+.2f %%\n", loop, a, b, b - a, 100 * (b / a - 1) }'
done

echo "start of the commands, median of 11 (target: at most 100 ms):"
for command in "--help" "run --dry-run --retain -- true"; do
    .venv/bin/python - "$command" <<'PY'
import statistics, subprocess, sys, time
times = []
for _ in range(11):
    begun = time.perf_counter()
    subprocess.run([".venv/bin/okosu", *sys.argv[1].split()], stdout=subprocess.DEVNULL, check=True)
    times.append(time.perf_counter() - begun)
print(f"  okosu {sys.argv[1]:<32} {1e3 * statistics.median(times):.0f} ms")
PY
done
