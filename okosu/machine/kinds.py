# SPDX-License-Identifier: Apache-2.0
"""Kinds of machine: a verdict holds for every machine of the kind it was measured on, and for no other.

Two machines are of one kind where all is equal that is known to turn a lever's sign and that changes only when an
administrator changes the machine. What changes by the minute (free memory, load), what is a size and no structure (the
amount of main memory) and what the job chooses (the CPUs it may use) is no part of it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from okosu.machine.model import Cache, Machine


def kind(machine: Machine) -> dict[str, str]:
    """What makes the machine's kind: label to text, "" where it is unknown, the most telling first."""
    return {
        "CPU": _cpu(machine),
        "cores": _cores(machine),
        "caches": ", ".join(map(_cache, machine.caches)),
        "NUMA nodes": str(sum(node.total_kb > 0 for node in machine.nodes) or ""),
        "virtualisation": machine.virtual.hypervisor or ("none" if machine.model else ""),
        "huge pages": ", defrag ".join(filter(None, (machine.thp.mode, machine.thp.defrag))),
        "kernel": machine.kernel,
        "page size": str(machine.page_size),
        "glibc": machine.glibc,
        "microcode": machine.microcode,
    }


def identity(machine: Machine) -> str:
    """The hash that `Machine.id` holds: 12 hexadecimal digits, the same for all machines of one kind."""
    import hashlib

    return hashlib.blake2b(repr(kind(machine)).encode(), digest_size=6).hexdigest()


def stored(facts: dict[str, Any]) -> Machine:
    """The machine that a records file describes, whatever its version: what cannot be read is unknown. Its id is of
    today's definition."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(Machine):
        if field.name in facts:
            try:
                found[field.name] = msgspec.convert(facts[field.name], field.type)
            except msgspec.ValidationError:
                continue
    machine = Machine(**found)
    return msgspec.structs.replace(machine, id=identity(machine))


def apart(one: Machine, other: Machine) -> list[tuple[str, str, str]]:
    """(label, text of one, text of the other) of each fact in which their kinds differ, as far as both are known."""
    mine, theirs = kind(one), kind(other)
    both = ((label, mine[label], theirs[label]) for label in mine)
    return [(label, was, now) for label, was, now in both if was and now and was != now]


def _cpu(machine: Machine) -> str:
    """The model's name with its numbers, because a hypervisor may give all generations of a CPU one name."""
    numbers = (("family", machine.family), ("model", machine.model_number), ("stepping", machine.stepping))
    said = ", ".join(f"{label} {number}" for label, number in numbers if number is not None)
    return f"{machine.model or machine.arch}{f' ({said})' if said else ''}" if machine.model or said else ""


def _cores(machine: Machine) -> str:
    if not machine.cpus:
        return ""
    packages, cores, cpus = machine.packages, machine.cores, len(machine.cpus)
    return f"{packages} package{'s' * (packages > 1)}, {cores} cores, {cpus} CPUs"


def _cache(cache: Cache) -> str:
    letter = {"Data": "d", "Instruction": "i"}.get(cache.type, "")
    return f"L{cache.level}{letter} {cache.size // 1024} KiB {cache.ways}-way"
