# SPDX-License-Identifier: Apache-2.0
"""Guests whose free huge pages are cleared ahead: how they are booted, and what comes back from them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.kernel.build import Built
from lab.run import guest, qemu
from lab.run.outcome import Outcome
from lab.tests.long.base import BASE

TIMEOUT_S = 1800.0
POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB"
BIG = "/sys/kernel/mm/hugepages/hugepages-1048576kB"
MOCK = "/sys/module/hugetlb_zero_mock/parameters"
# With this option the kernel fills freed pages with a pattern, and itself scans each page that is taken.
DEBUG = "hugetlb_zero.debug=1"
# Waits until no clearing is begun any more and all have ended, so that the counters stand still. (A page becomes free a
# moment after it was counted.)
_END, _STATS = {
    "6.12": (
        """echo cpu > $P/zero_engine
    n=0; until grep -q '^stuck 0' $P/zero_stats && grep -q '^running 0' $P/zero_stats; do
        sleep 0.1; n=$((n + 1)); [ $n -lt 300 ]; done""",
        "cat $P/zero_stats",
    ),
    "7.3": ("echo 0 > $P/prezero_hugepages", "grep htlb_prezero /proc/vmstat"),
}[BASE]
SETTLE = f"""
    {_END}
    n=0; until [ $(cat $P/free_hugepages) = $(cat $P/nr_hugepages) ] || [ $n = 10 ]; do sleep 0.1; n=$((n + 1)); done
    {_STATS}; echo free $(cat $P/free_hugepages)"""
# A further channel of the mock of a DMA controller, which waits.
CHANNEL = "hugetlb_zero_mock.channels=2"
# With these a page stays in work for ten seconds, unless its engine ends with it.
LATE = (CHANNEL, "hugetlb_zero.timeout_ms=10000")
# What clears, by name: the engine of the guest programs, and the script that prepares it. On 6.12 they are in the order
# of how long they wait: a thread, a slow controller, a daemon. On 7.3 there is a thread, which is seldom or nearly
# always at a page that somebody takes.
ENGINES = {
    "6.12": {
        "cpu-nt": ("cpu-nt", ""),
        "dma": ("dma", f"echo 3 > {MOCK}/delay_ms; echo 5 > {MOCK}/error_every;"),
        "user": ("user", "$BIN/zero_daemon good > /dev/null &"),
    },
    "7.3": {
        "thread": ("thread", "echo 100 > $P/prezero_cpu_percent;"),
        "resting thread": ("thread", "echo 4 > $P/prezero_cpu_percent;"),
    },
}[BASE]
# The engine of which nothing has to be said.
PLAIN = next(iter(ENGINES))
# The counter of pages that came clean.
SERVED = {"6.12": "served_clean", "7.3": "htlb_prezero_hit"}[BASE]
# Put before a program, so that the pool's thread, which has idle priority, has a CPU without the program. That CPU is
# the first: while the first is busy, timers of the other may go off a second late in an exact guest.
APART = "echo 0 > $P/zero_cpus; taskset 2"
WAYS = ("touch", "fork", "cow", "fallocate", "userfaultfd", "migrate", "resize", "oom")
# Messages by which the kernel reports a page that contradicts its state, or an oops. (QEMU's two nodes lie in one
# package, of which every kernel warns; and every kernel has data races, which kcsan_races.py attributes.)
WRONG = re.compile(
    r"hugetlb_zero: (?:clean|free) folio .*|WARNING(?!.* topology_sane).*|BUG: (?!KCSAN).*|Oops.*|general protection.*"
)


def run(built: Built, script: str, *kernel_args: str, files: Sequence[Path] = (), **machine: object) -> Outcome:
    """Run a shell script as the guest's command, the guest programs in $BIN; it must end well and warn of nothing.

    `files` are further ones of this machine that it needs. An exact guest is the same wherever this machine keeps the
    programs.
    """
    given = {"cpus": 2, "nodes": 2, "timeout": TIMEOUT_S, **machine}
    programs = guest.build()
    where: Path | str = programs
    if given.get("exact"):
        where = ""
        own = {f"/{path.name}": path for path in sorted(programs.glob("zero_*"))}
        given["files"] = own | {str(path): path for path in files}
    command = ["sh", "-ec", f"BIN={where} P={POOL} M={MOCK}; {script}"]
    outcome = qemu.run(built, command, kernel_args=(DEBUG, *kernel_args), **given)  # type: ignore[arg-type]
    assert outcome.status == 0, outcome.console
    assert not WRONG.findall(outcome.log), WRONG.findall(outcome.log)
    return outcome


def stats(outcome: Outcome) -> dict[str, int]:
    """Return the pool's counters that the script printed last (SETTLE)."""
    lines = [line.split() for line in outcome.stdout.decode().splitlines()]
    return {words[0]: int(words[1]) for words in lines if len(words) == 2}


def scans(outcome: Outcome) -> dict[str, tuple[int, int]]:
    """Return (pages scanned, pages compared) of each way that zero_check printed."""
    lines = [line.split() for line in outcome.stdout.decode().splitlines()]
    return {words[0]: (int(words[1]), int(words[2])) for words in lines if len(words) == 3}


def locked(engine: str, how: str) -> str:
    """Return the script in which one process waits for a page that the engine does not end with, and another needs a
    lock that the first takes (zero_lock); for a kernel with LATE."""
    return f"""
        mkdir /tmp/huge; mount -t hugetlbfs none /tmp/huge; echo 60000 > {MOCK}/delay_ms
        $BIN/zero_daemon slow 60000 > /dev/null &
        $BIN/zero_lock {engine} {how}; grep -e '^running' -e '^timed_out' $P/zero_stats"""


def killed_at_once(outcome: Outcome) -> bool:
    """Say whether both processes of locked() were gone within 100 ms, the page being in work as before."""
    found = stats(outcome)
    return max(found["took"], found["waiter"]) <= 100 and (found["running"], found["timed_out"]) == (1, 0)


def ahead(pages: int) -> str:
    """Return the script that has so many pages cleared ahead by the plain engine."""
    if BASE == "6.12":
        return f"echo {pages} > $P/zero_target; echo {PLAIN} > $P/zero_engine"
    return f"echo 100 > $P/prezero_cpu_percent; echo {pages} > $P/prezero_hugepages"


def check(
    built: Built, engine: str, rounds: int, ways: Sequence[str] = WAYS, before: str = "", *args: str, **machine: object
) -> Outcome:
    """Run zero_check in all `ways` with an engine, `before` having prepared it; the outcome ends with the counters."""
    script = f"{before} $BIN/zero_check {engine} {rounds} {' '.join(ways)}; {SETTLE}"
    return run(built, script, *args, **machine)  # type: ignore[arg-type]


def expected(rounds: int, pool: int = 32, part: int = 8) -> Mapping[str, tuple[int, int]]:
    """Return what zero_check must have scanned and compared: 100 % of what it was handed."""
    return {
        "touch": (part * rounds, part * rounds),
        "fork": (part * rounds, part * rounds),
        "cow": (part * rounds, 2 * part * rounds),
        "fallocate": ((part + 2) * rounds, 2 * rounds),
        "userfaultfd": (0, part * rounds),
        "migrate": (part * rounds, 2 * part * rounds),
        "resize": (4 * part * rounds, 4 * part * rounds),
        "oom": (pool * rounds, pool * rounds),
    }
