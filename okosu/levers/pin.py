# SPDX-License-Identifier: Apache-2.0
"""Lever pin: each thread on one CPU. Proof: the masks of all threads, and the CPUs they were seen on."""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from okosu.levers import launcher
from okosu.levers.base import Availability, Bound, Lever
from okosu.machine.model import Machine
from okosu.machine.parse import cpulist, show_cpulist
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

POLICIES = ("compact", "scatter", "one-per-core")
MIGRATION_S = 3e-3
"""The most that a move to another CPU costs: 2 MiB of private caches, refilled line by line from memory at 90 ns."""
BLOCKING_S = 0.1e-3
"""The most that the choice of the CPU changes of one wait: waking an idle virtual CPU takes some tens of µs."""
PREEMPTION_S = 0.25e-3
"""The most that one preemption costs beside the wait: a TLB of 2048 entries and 32 KiB of cache, at 90 ns each."""
_SHOWN = 64
"""Threads of which the preload library names the CPU."""


class Pin(Lever):
    """Thread placement by a named policy or a list of CPUs."""

    name = "pin"
    # The library tells which CPU each thread was given; what is read of the others at their end is one more witness.
    spares = frozenset({"threads"})

    def needs(self, machine: Machine) -> Availability:
        """Pinning needs a choice: at least two CPUs."""
        allowed, online = machine.cpus_allowed, machine.cpus_online
        if len(allowed) > 1:
            return Availability(True)
        if not online:
            return Availability(False, "it is not known which CPUs this machine has")
        if len(online) < 2:
            return Availability(False, "this machine has one CPU: there is nothing to choose", "a machine with several")
        why = f"this process may use CPU {show_cpulist(allowed)} only, of {len(online)}: there is nothing to choose"
        return Availability(False, why, "start from a wider mask (taskset, docker run --cpuset-cpus=…)")

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """The named policies; where several give the same CPUs in the same order, only the first."""
        arms: dict[tuple[int, ...], str] = {}
        for policy in POLICIES:
            arms.setdefault(order(policy, machine.root), policy)
        return [[policy] for cpus, policy in arms.items() if cpus]

    def bound(self, machine: Machine, base: Sequence[Measurement], run: Measurement | None) -> Bound | None:
        """What one thread on equal CPUs lost by moving between them, by waiting for them and by being interrupted.

        None for several threads or processes (which share caches), for several nodes, and for CPUs that differ.
        """
        if any(m.threads or m.forks or m.processes > 1 or not m.traced for m in base):
            return None
        if len(machine.nodes) > 1 or not _equal_cpus(machine):
            return None
        worst: tuple[float, str] = (0.0, "")
        for m in base:
            if m.delay_ns is None or m.migrations is None or m.delay_ns >= m.wall_ns:
                return None
            lost = m.delay_ns / 1e9 + m.migrations * MIGRATION_S + m.nvcsw * BLOCKING_S + m.nivcsw * PREEMPTION_S
            moved = f"{m.migrations} moves between CPUs, {m.nvcsw + m.nivcsw} switches"
            told = f"one thread: {moved} and {m.delay_ns / 1e6:.3g} ms of waiting cost {1e3 * lost:.3g} ms at most"
            worst = max(worst, (lost * 1e9 / m.wall_ns, told))
        return Bound(*worst)

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """The proof: all masks and all CPUs used are among those wanted, some mask is narrower than base's, and the
        threads that the preload library pinned took the CPUs in order.
        """
        wanted = order(value, os.environ.get("OKOSU_ROOT", "/"))
        masks, used = _masks(run), {cpu for p in run.procs for cpu in p.cpus_used}
        allowed = {cpu for mask in masks for cpu in cpulist(mask)}
        values = {"cpus_allowed": float(len(allowed)), "cpus_used": float(len(used))}
        if not wanted or not masks:
            lacks = "the launcher names no CPU for it" if not wanted else run.why_untraced or "no thread was seen"
            return Proof(False, f"pin={value} cannot be proved: {lacks}", values)
        if outside := (allowed | used) - set(wanted):
            text = f"threads may use CPUs {show_cpulist(sorted(outside))}, outside {show_cpulist(list(wanted))}"
            return Proof(False, text, values)
        if masks <= _masks(base):
            return Proof(False, f"the threads' masks ({', '.join(sorted(masks))}) are those without the lever", values)
        if misplaced := _misplaced(run, wanted):
            return Proof(False, misplaced, values)
        single = sum(len(cpulist(mask)) == 1 for mask in masks)
        text = f"threads ran on CPUs {show_cpulist(sorted(used or allowed))} of {show_cpulist(list(wanted))}"
        return Proof(True, f"{text}; {single} of {len(masks)} distinct masks hold one CPU", values)


def _equal_cpus(machine: Machine) -> bool:
    """Say whether all CPUs are alike, and none shares its core with another that this process leaves idle or not."""
    if machine.cores > 1 and machine.smt:
        return False
    folder = Path(machine.root, "sys/devices/system/cpu")
    for what in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        if len({path.read_text().strip() for path in folder.glob(f"cpu[0-9]*/{what}")}) > 1:
            return False
    return not Path(machine.root, "sys/devices/cpu_atom").exists()


def _masks(run: Measurement) -> set[str]:
    return {mask for p in run.procs for mask in (p.thread_masks or [p.cpus_allowed]) if mask}


def _misplaced(run: Measurement, wanted: tuple[int, ...]) -> str:
    """Say how the CPUs that the preload library assigned differ from those wanted; "" if they do not.

    Threads start in any order, so what is compared is how often each CPU was assigned.
    """
    for line in run.preload:
        pinned = cpulist_in_order(str(line.get("pins", "")))
        if not pinned or len(pinned) >= _SHOWN:
            continue
        expected = Counter(wanted[i % len(wanted)] for i in range(len(pinned)))
        if Counter(pinned) != expected:
            who = line.get("comm", "a process")
            return f"{who} pinned its threads to CPUs {pinned}, not {sorted(expected.elements())}"
    return ""


def cpulist_in_order(text: str) -> list[int]:
    """The numbers of "0,2,1,3" in their order."""
    return [int(word) for word in text.split(",") if word.isascii() and word.isdecimal()]


@functools.cache
def order(value: str, root: str = "/") -> tuple[int, ...]:
    """The CPUs of a policy or list in the order in which threads take them; () where it cannot be applied."""
    env = launcher.plan(Pin.name, value, "/bin/true", root).env
    # Where /bin/true cannot be preloaded, OpenMP's variable in the plan has the same order.
    listed = env.get("OKOSU_PIN") or (env.get("OMP_PLACES") or "").translate({ord("{"): None, ord("}"): None})
    return tuple(cpulist_in_order(listed))
