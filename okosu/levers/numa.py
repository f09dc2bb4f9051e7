# SPDX-License-Identifier: Apache-2.0
"""Lever numa: on which nodes memory lies. Proof: the policies and the pages by node in numa_maps."""

from __future__ import annotations

from okosu.levers.base import Availability, Lever
from okosu.machine.model import Machine
from okosu.machine.parse import cpulist, show_cpulist
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

MOSTLY = 0.9
"""Share of the anonymous pages that must lie on the nodes of a binding; what a fork shares was there before."""
FAIR = 0.25
"""Interleaved: each node holds at least this part of an even share. Loose, for huge pages alternate by 512."""
ENOUGH_PAGES = 2048
"""Pages a node below which evenness says nothing."""

_SHOWN_AS = {"preferred": "prefer"}
_DOCKER = "docker run --cap-add SYS_NICE …, or leave numa out"


class Numa(Lever):
    """Memory policy by set_mempolicy, which children inherit."""

    name = "numa"
    likely = 0.3

    def needs(self, machine: Machine) -> Availability:
        """A policy needs two nodes with memory that this process may use."""
        nodes = [n.number for n in machine.nodes if n.total_kb > 0]
        if not machine.nodes:
            return Availability(False, "this kernel knows no NUMA nodes: all memory is equally far")
        if len(nodes) < 2:
            return Availability(False, "this machine has one NUMA node: all memory is equally far")
        if len(machine.memory_nodes) < 2:
            allowed = show_cpulist(machine.memory_nodes) or "none"
            why = f"the cpuset allows memory of node {allowed} only, of nodes {show_cpulist(nodes)}"
            return Availability(False, why, "a wider cpuset.mems (docker run --cpuset-mems=…)")
        if _may_be_refused(machine):
            why = "the container's seccomp filter may refuse set_mempolicy, for there is no CAP_SYS_NICE"
            return Availability(True, why, _DOCKER)
        return Availability(True)

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """Interleave and local. Binding to one node restricts the program to its memory, so it is tried only on
        request.
        """
        return [["interleave"], ["local"]]

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """The proof: numa_maps shows the policy, and the pages lie on the nodes that it names."""
        word, _, _ = value.partition(":")
        policies = sorted({p for process in run.procs for p in process.policies})
        mine = [p for p in policies if p.partition(":")[0].split(" ")[0] == _SHOWN_AS.get(word, word)]
        pages: dict[int, int] = {}
        for process in run.procs:
            for node, count in process.numa.items():
                pages[int(node)] = pages.get(int(node), 0) + count
        values = {f"node{node}_pages": float(count) for node, count in sorted(pages.items())}
        if not mine:
            seen = ", ".join(policies) or run.why_untraced or "none was seen"
            return Proof(False, f"no mapping has the policy {value} ({seen}); was set_mempolicy refused?", values)
        total = sum(pages.values())
        nodes = cpulist(mine[0].rpartition(":")[2])
        shares = ", ".join(f"{100 * count / total:.0f} % on node {n}" for n, count in sorted(pages.items()) if total)
        text = f"policy {mine[0]}: {shares or 'no anonymous pages'}"
        held = [pages.get(node, 0) for node in nodes]
        if word == "bind" and sum(held) < MOSTLY * total:
            return Proof(False, f"{text}: too much lies elsewhere", values)
        if word == "interleave" and total >= ENOUGH_PAGES * len(nodes) and min(held) < FAIR * total / len(nodes):
            return Proof(False, f"{text}: not spread", values)
        return Proof(True, text, values)


def _may_be_refused(machine: Machine) -> bool:
    return (
        bool(machine.virtual.container)
        and machine.rights.seccomp == 2
        and "SYS_NICE" not in machine.rights.capabilities
    )
