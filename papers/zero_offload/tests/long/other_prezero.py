# SPDX-License-Identifier: Apache-2.0
"""What huge pages cost that a kernel of somebody else's clears ahead, for the cover letter of hugetlb-prezero:

python -m papers.zero_offload.tests.long.other_prezero TREE SWITCH:COUNT

TREE is a source of Linux of the base (OKOSU_BASE) with the other's patches; SWITCH is the file of a pool to which 1 is
written so that free pages are cleared, and COUNT the one that says how many are clean. It prints first touches and ends
of mappings, what a neighbour loses of a second-level cache, and how long fallocate() waits for the only page of 1 GiB
when a task of real-time priority has taken the CPU from the thread that is clearing it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long.base import BASE
from papers.zero_offload.tests.long.first_touch import (
    CLEAN,
    DIRTY,
    GIVEN_BACK,
    SIZES,
    faults,
    lines_lost,
    show,
    show_lost,
)
from papers.zero_offload.tests.long.prezero_guest import BIG

ARGUMENTS = {"6.12": (), "7.3": ("no5lvl",)}[BASE]
LARGE = SIZES["1 GiB"]
CHRT = Path("/usr/bin/chrt")
# One CPU, and the thread has begun with the only page when a task of real-time priority takes that CPU from it. Who
# needs the page has a higher priority, is killed after two seconds, and the task after five. The machine takes a second
# to clear such a page, a byte a nanosecond.
STARVED = f"""
    now() {{ t=$(cut -d' ' -f1 /proc/uptime | tr -d .); t=${{t#0}}; echo ${{t#0}}; }}
    mkdir /tmp/big; mount -t hugetlbfs -o pagesize=1G none /tmp/big
    echo -1 > /proc/sys/kernel/sched_rt_runtime_us
    {CHRT} -fp 70 $$; echo 1 > {BIG}/SWITCH; sleep 0.05
    {CHRT} -f 50 sh -c 'while :; do :; done' & hog=$!
    {CHRT} -f 60 fallocate -l 1G /tmp/big/file & taker=$!
    from=$(now); (sleep 2; kill -9 $taker; sleep 3; kill -9 $hog) &
    wait $taker || true; echo $(($(now) - from))
"""


def main(words: Sequence[str]) -> None:
    tree, engine = Path(words[0]), words[1]
    built = qemu.build(series=(), source=tree, base=BASE)
    for name, size in SIZES.items():
        found = faults(built, size, engine, ARGUMENTS)
        for what, label in (("clean", CLEAN), ("cleared by the fault", DIRTY), ("given back", GIVEN_BACK)):
            show(f"{name}, {what}", found[label])
    show_lost(lines_lost(built, engine, ARGUMENTS))
    print(f"starved, 1 GiB: {starved_wait(built, engine.partition(':')[0])} hundredths of a second, killed after 200")


def starved_wait(built: Built, switch: str) -> int:
    """Return the hundredths of a second for which fallocate() of the only page waits."""
    script = STARVED.replace("SWITCH", switch)
    outcome = qemu.run(
        built,
        ["sh", "-ec", script],
        kernel_args=LARGE.kernel_args,
        memory=LARGE.memory,
        exact=True,
        files={str(CHRT): CHRT},
        timeout=3600.0,
    )
    assert outcome.status == 0, outcome.console
    return int(outcome.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
