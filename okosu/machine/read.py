# SPDX-License-Identifier: Apache-2.0
"""Reads a whole machine, or only the part of it that changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from okosu.machine import accelerators, cpu, memory, rights, system, virtual
from okosu.machine.kinds import identity
from okosu.machine.model import Machine, Pressure, State
from okosu.machine.parse import count, cpulist, pressure, real, steal
from okosu.machine.tree import Tree

_THROTTLE = "/sys/devices/system/cpu/cpu{}/thermal_throttle/{}_throttle_count"


def read(root: Path | Tree = Path("/")) -> Machine:
    """The machine whose /proc and /sys lie below `root`; what is missing or garbled there is left unknown."""
    tree = root if isinstance(root, Tree) else Tree(root)
    facts = system.facts(tree)
    identifying = cpu.identification(tree)
    online = cpu.online(tree)
    nodes = memory.nodes(tree)
    machine = Machine(
        root=str(tree.root),
        model=cpu.model(identifying),
        vendor=cpu.vendor(identifying),
        family=cpu.field(identifying, "cpu family", "CPU architecture"),
        model_number=cpu.field(identifying, "model", "CPU part"),
        stepping=cpu.field(identifying, "stepping", "CPU revision"),
        microcode=identifying.get("microcode", ""),
        arch=facts.arch,
        page_size=facts.page_size,
        cpus_online=online,
        cpus=cpu.topology(tree, online, nodes),
        caches=cpu.caches(tree, online, facts.page_size),
        nodes=nodes,
        governor=tree.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        turbo=cpu.turbo(tree),
        autogroup={"0": False, "1": True}.get(tree.line("/proc/sys/kernel/sched_autogroup_enabled")),
        kernel=tree.line("/proc/sys/kernel/osrelease"),
        glibc=facts.glibc,
        thp=memory.thp(tree),
        pools=memory.pools(tree),
        memory=memory.main(tree),
        limits=rights.limits(tree),
        rights=rights.rights(tree, facts.pagemap),
        virtual=virtual.virtual(tree, identifying),
        accelerators=accelerators.accelerators(tree),
        state=_state(tree),
    )
    return msgspec.structs.replace(machine, id=identity(machine))


def state(root: Path | Tree = Path("/")) -> dict[str, Any]:
    """The part that changes, in builtin types for a records file. Takes about a millisecond on a small machine."""
    tree = root if isinstance(root, Tree) else Tree(root)
    built: dict[str, Any] = msgspec.to_builtins(_state(tree), str_keys=True)
    return built


def _state(tree: Tree) -> State:
    main = memory.main(tree)
    words = tree.text("/proc/loadavg").split()[:3]
    return State(
        available_kb=main.available_kb,
        free_kb=main.free_kb,
        free_huge=memory.free_huge(tree),
        buddy=memory.buddy(tree),
        pressure={r: p for r in ("cpu", "memory", "io") if (p := _pressure(tree.text(f"/proc/pressure/{r}")))},
        load=[real(w) for w in words],
        steal_ticks=steal(tree.text("/proc/stat")),
        throttles=_throttles(tree),
    )


def _pressure(text: str) -> Pressure | None:
    found = pressure(text)
    return Pressure(*found.get("some", (0.0, 0)), *found.get("full", (0.0, 0))) if found else None


def _throttles(tree: Tree) -> int | None:
    counts = []
    for number in cpulist(tree.text("/sys/devices/system/cpu/online")):
        texts = [tree.line(_THROTTLE.format(number, what)) for what in ("core", "package")]
        # A kernel with this counter has it for every CPU; where the first CPU has none, the others are not read.
        if not any(texts):
            break
        counts += [count(text) for text in texts]
    return sum(counts) if counts else None
