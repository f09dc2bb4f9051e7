# SPDX-License-Identifier: Apache-2.0
"""Lever superpage: 2 MiB pages. Proof: memory on huge pages, or the faults where it is freed before exit."""

from __future__ import annotations

from collections.abc import Callable

from okosu.levers.base import FORBIDDEN, HUGE_PAGE_KB, NEVER, Availability, Lever, hardly_any_memory, resembles_pilot
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement, Memory
from okosu.records.types import Proof

LEAST_SHARE = 0.5
"""In the pilot, at least this share of the anonymous memory lies on huge pages …"""
LEAST_GAIN = 0.05
"""… and this much more than in base, whose own share wanders by a few per cent where THP is on for all."""
NEARLY_ALL = 0.95
"""Share of the memory, anonymous and shared, on huge pages above which no other value is tried."""
SHARED = "shared"
"""The value that reaches shared memory, and is proved by that."""
ASKS = ("advise", "within_size")
"""Settings of the kernel with which shared memory gets more huge pages if the program asks for them."""

HUGETLB_TUNABLE = (2, 35)
"""The first glibc with glibc.malloc.hugetlb."""

_COLLAPSE = "okosu try --levers superpage=collapse"
_GRANT = "sudo setcap cap_sys_nice+ep okosu-run, then "


class Superpage(Lever):
    """The values glibc, thp, small, shared and hugetlb, tried in this order; collapse only when it is named."""

    name = "superpage"
    likely = 0.6

    def needs(self, machine: Machine) -> Availability:
        """The kernel must have transparent huge pages, not switched off, or a pool with free 2 MiB pages."""
        if machine.rights.thp_disabled:
            return FORBIDDEN
        if machine.thp.mode in ("always", "madvise"):
            already = machine.thp.mode == "always"
            return Availability(
                True, "transparent huge pages are on for all programs: base may have them already" if already else ""
            )
        if _pool(machine):
            return Availability(True, "transparent huge pages are off, but the pool has free pages")
        if not machine.thp.enabled:
            why = "this kernel has no transparent huge pages, and no pool of 2 MiB pages has any free"
            return Availability(False, why, "sudo sysctl vm.nr_hugepages=N, or CONFIG_TRANSPARENT_HUGEPAGE")
        return NEVER

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """One arm; its alternative values begin with the one that intrudes least."""
        if base is not None and hardly_any_memory(base):
            return []
        tiers = []
        if machine.thp.mode in ("always", "madvise"):
            if program.heeds_tunables and (program.kind != "glibc" or machine.glibc_version >= HUGETLB_TUNABLE):
                tiers.append("glibc")
            # The library works in chunks of 2 MiB; with base pages of 64 KiB a huge page is larger than such a chunk.
            if program.preloadable and machine.thp.pmd_size in (0, HUGE_PAGE_KB * 1024):
                tiers += ["thp", "small"]
                if machine.thp.shared in ASKS and (base is None or _fullest(base, _shmem).shmem_kb >= HUGE_PAGE_KB):
                    tiers.append(SHARED)
        if program.preloadable and _pool(machine) and base is not None and base.forks == 0:
            tiers.append("hugetlb")
        return [tiers] if tiers else []

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """The reason: too little memory, or a program that neither reads tunables nor can be preloaded."""
        if base is not None and hardly_any_memory(base):
            return Availability(False, "the program holds less than one huge page (2 MiB) of memory of its own")
        if program.setuid:
            return Availability(False, "the program gains privileges when it starts, and then cannot be reached")
        why = program.why or "huge pages of 2 MiB cannot be had for it here"
        able = "SYS_NICE" in machine.rights.capabilities and machine.rights.initial_userns
        return Availability(False, why, _COLLAPSE if able else _GRANT + _COLLAPSE)

    def enough(self, proof: Proof) -> bool:
        """Values differ in which memory they put on huge pages, and hardly any is left."""
        return proof.values.get("share", 0.0) >= NEARLY_ALL

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """In the pilot, enough of the peak must lie on huge pages. Later runs must resemble the pilot in their huge
        pages at exit, or in their page faults where none are left.
        """
        of = _shmem_huge if value == SHARED else _huge
        if pilot is None:
            return _prove_shared(run, base) if value == SHARED else _prove_pilot(run, base)
        if run.traced and of(pilot.exit) >= HUGE_PAGE_KB:
            holds = 2 * of(run.exit) >= of(pilot.exit)
            text = _text_of_all(run.exit) if value == SHARED else _text(run.exit)
            return Proof(holds, f"{text} at exit", _values(run.exit, run))
        # The program frees its memory before it ends, or its memory may not be read: page faults tell whether this run
        # resembles the pilot or base.
        holds = resembles_pilot(run.minflt, pilot.minflt, base.minflt)
        text = f"{run.minflt:,} page faults, {pilot.minflt:,} in the pilot, {base.minflt:,} in base"
        return Proof(holds, text, {"faults": float(run.minflt)})


def _prove_pilot(run: Measurement, base: Measurement) -> Proof:
    seen, was = _fullest(run, _huge), _share(_fullest(base, _huge))
    values = _values(seen, run)
    if _huge(seen) < HUGE_PAGE_KB:
        return Proof(False, f"none of its memory came to lie on huge pages: {_reason(run)}", values)
    return _judge(_share(seen), was, _text(seen), run, values)


def _prove_shared(run: Measurement, base: Measurement) -> Proof:
    seen, before = _fullest(run, _shmem_huge), _fullest(base, _shmem_huge)
    values = _values(seen, run)
    if _shmem_huge(seen) < _shmem_huge(before) + HUGE_PAGE_KB:
        return Proof(False, f"no more of its shared memory came to lie on huge pages: {_reason(run)}", values)
    return _judge(_share_of_all(seen), _share_of_all(before), _text_of_all(seen), run, values)


def _judge(share: float, was: float, text: str, run: Measurement, values: dict[str, float]) -> Proof:
    text += f", {100 * was:.0f} % in base" if was > 0 else ""
    if share < LEAST_SHARE:
        return Proof(False, f"{text}: less than half ({_reason(run)})", values)
    if share < was + LEAST_GAIN:
        return Proof(False, f"{text}: base has huge pages already", values)
    return Proof(True, text, values)


def _fullest(run: Measurement, by: Callable[[Memory], int]) -> Memory:
    """The memory at its peak. A peak that the samples missed may still be there at the end."""
    return max(run.peak or run.exit, run.exit, key=by)


def _huge(memory: Memory) -> int:
    return memory.anon_huge_kb + memory.hugetlb_kb


def _shmem(memory: Memory) -> int:
    return memory.shmem_kb


def _shmem_huge(memory: Memory) -> int:
    # Each process that maps a huge page counts it as a whole, and of the memory its share alone.
    return min(memory.shmem_kb, memory.shmem_huge_kb)


def _share(memory: Memory) -> float:
    # The peak of all memory and the peak of huge pages may be of different moments.
    return min(1.0, _huge(memory) / max(1, memory.anon_kb + memory.hugetlb_kb))


def _share_of_all(memory: Memory) -> float:
    every = memory.anon_kb + memory.hugetlb_kb + memory.shmem_kb
    return min(1.0, (_huge(memory) + _shmem_huge(memory)) / max(1, every))


def _text(memory: Memory) -> str:
    mib = (memory.anon_kb + memory.hugetlb_kb) / 1024
    return f"{100 * _share(memory):.0f} % of {mib:,.0f} MiB anonymous on huge pages"


def _text_of_all(memory: Memory) -> str:
    mib = (memory.anon_kb + memory.hugetlb_kb + memory.shmem_kb) / 1024
    return f"{100 * _share_of_all(memory):.0f} % of {mib:,.0f} MiB anonymous and shared on huge pages"


def _values(memory: Memory, run: Measurement) -> dict[str, float]:
    huge = (_huge(memory) + _shmem_huge(memory)) / 1024
    return {"share": _share_of_all(memory), "huge_mib": huge, "faults": float(run.minflt)}


def _pool(machine: Machine) -> bool:
    return any(pool.size_kb == HUGE_PAGE_KB and pool.free > pool.reserved for pool in machine.pools)


def _reason(run: Measurement) -> str:
    """The preload library's most frequent reason for using no huge page, or the likeliest one where it gave none."""
    counted: dict[str, int] = {}
    for line in run.preload:
        reasons = line.get("reasons")
        if isinstance(reasons, dict):
            for text, count in reasons.items():
                counted[str(text)] = counted.get(str(text), 0) + (count if isinstance(count, int) else 0)
    if counted:
        return max(counted, key=lambda text: counted[text])
    if any(p.thp_enabled == 0 for p in run.procs):
        return "huge pages are forbidden to it by PR_SET_THP_DISABLE, which it called itself or inherited"
    return "it holds no large blocks"
