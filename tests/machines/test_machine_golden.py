# SPDX-License-Identifier: Apache-2.0
"""Replayed machines: doctor's text, the levers' availability, the order of CPUs; lscpu serves as an independent
reader.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import built_machines as built
import msgspec
import pytest

from okosu import levers, machine
from okosu.levers.pin import order
from okosu.machine.program import Program

GLIBC = Program("/bin/true", "glibc")


@pytest.fixture(params=built.NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


Places = dict[str, Path]


def read(place: Path) -> machine.Machine:
    with machine.unpacked(place) as root:
        return machine.read(root)


def test_doctor_prints_what_is_expected(name: str, places: Places) -> None:
    text = built.expected_text(places[name])
    assert text == (built.HERE / f"{name}.txt").read_text()
    assert max(map(len, text.splitlines())) <= 80


REFUSED = {
    "server-2s4n": set(),
    "container": {"numa"},
    "without-thp": {"numa", "superpage", "text", "threads"},
    "thp-never": {"numa", "superpage", "text"},
    "aarch64-64k": {"numa", "prezero", "text", "threads"},
    "this-vm": {"numa"},
    "gpu-vm": {"numa"},
}


def test_levers_are_available_as_expected(name: str, places: Places) -> None:
    here = read(places[name])
    said = {lever.name: lever.needs(here) for lever in levers.load().values()}
    assert {n for n, a in said.items() if not a.ok} == REFUSED[name]
    assert all(a.why for a in said.values() if not a.ok)


@pytest.mark.preloads
@pytest.mark.parametrize("name", built.BUILT)
def test_the_launcher_agrees_on_what_can_be_applied(name: str, places: Places) -> None:
    """okosu-run would apply each value that values() offers on the same tree; for superpage, values() offers all of
    them.
    """
    here = machine.read(places[name])
    for lever in levers.load().values():
        offered = {v for arm in lever.values(here, GLIBC, None) for v in arm} if lever.needs(here).ok else set()
        for value in offered:
            assert lever.suits(value, here, GLIBC).ok, f"{lever.name}={value}"
    superpage = levers.load()["superpage"]
    if not superpage.needs(here).ok:
        assert not any(superpage.suits(v, here, GLIBC).ok for v in ("glibc", "thp", "hugetlb"))


def rows(root: Path, what: str) -> list[list[str]]:
    done = subprocess.run(["lscpu", "-s", root, what], capture_output=True, text=True, check=True)
    return [line.replace(",", " ").split() for line in done.stdout.splitlines() if not line.startswith(("#", "NAME"))]


needs_lscpu = pytest.mark.skipif(not shutil.which("lscpu"), reason="util-linux is not installed")


@needs_lscpu
@pytest.mark.parametrize("name", built.BUILT)
def test_topology_is_what_lscpu_reads(name: str, places: Places) -> None:
    here = machine.read(places[name])
    listed = rows(places[name], "-p=CPU,CORE,SOCKET,NODE")
    cores: dict[str, set[int]] = {}
    for cpu, core, _, _ in listed:
        cores.setdefault(core, set()).add(int(cpu))
    assert [(c.number, c.package, c.node) for c in here.cpus] == [(int(c), int(s), int(n)) for c, _, s, n in listed]
    assert {frozenset(c.siblings) for c in here.cpus} == {frozenset(group) for group in cores.values()}


@needs_lscpu
@pytest.mark.parametrize("name", built.BUILT)
def test_caches_are_what_lscpu_reads(name: str, places: Places) -> None:
    here = machine.read(places[name])
    letters = {"Data": "d", "Instruction": "i", "Unified": ""}
    ours = [[f"L{c.level}{letters[c.type]}", c.size * len(c.shared_cpus), c.ways, c.sets, c.line] for c in here.caches]
    done = subprocess.run(
        ["lscpu", "-s", places[name], "-B", "-C=NAME,ALL-SIZE,WAYS,SETS,COHERENCY-SIZE"],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = [line.split() for line in done.stdout.splitlines()[1:]]
    assert ours == [[name, *map(int, numbers)] for name, *numbers in theirs]


@needs_lscpu
def test_this_machine_is_what_lscpu_reads() -> None:
    here = machine.read()
    listed = rows(Path("/"), "-p=CPU")
    assert here.cpus_online == [int(row[0]) for row in listed]


def test_scatter_goes_over_packages_and_nodes_first(places: Places) -> None:
    here = machine.read(places["server-2s4n"])
    where = {c.number: c for c in here.cpus}
    cpus = [where[n] for n in order("scatter", str(places["server-2s4n"]))]
    assert len(cpus) == 32
    assert len({c.package for c in cpus[:2]}) == 2
    assert {c.node for c in cpus[:4]} == {0, 1, 2, 3}
    assert len({tuple(c.siblings) for c in cpus[:16]}) == 16


def test_compact_fills_cores_then_nodes(places: Places) -> None:
    here = machine.read(places["server-2s4n"])
    where = {c.number: c for c in here.cpus}
    cpus = [where[n] for n in order("compact", str(places["server-2s4n"]))]
    assert all(a.siblings == b.siblings for a, b in zip(cpus[::2], cpus[1::2], strict=True))
    assert [c.node for c in cpus] == sorted(c.node for c in cpus)


def test_one_per_core_leaves_second_threads_out(places: Places) -> None:
    here = machine.read(places["server-2s4n"])
    where = {c.number: c for c in here.cpus}
    cpus = order("one-per-core", str(places["server-2s4n"]))
    assert len({tuple(where[n].siblings) for n in cpus}) == len(cpus) == 16


def test_a_restricted_mask_is_kept_to(places: Places) -> None:
    for policy in ("compact", "scatter", "one-per-core"):
        assert set(order(policy, str(places["container"]))) <= {2, 3, 10, 11}


def test_container_facts(places: Places) -> None:
    here = read(places["container"])
    assert here.cpus_allowed == [2, 3, 10, 11]
    assert here.memory_nodes == [0]
    assert (here.limits.memory_max, here.limits.cpu_max) == (4 << 30, 1.5)
    assert (here.rights.seccomp, here.rights.capabilities) == (2, [])
    assert (here.virtual.hypervisor, here.virtual.container, here.virtual.lazy_memory) == ("KVM", "docker", True)
    assert here.state.steal_ticks == 77


def test_server_facts(places: Places) -> None:
    here = read(places["server-2s4n"])
    assert (here.packages, here.cores, len(here.cpus), here.smt) == (2, 16, 32, True)
    assert [n.distances[0] for n in here.nodes] == [10, 11, 21, 21]
    assert here.state.throttles == 2
    assert here.accelerators.vendors == ["ASPEED", "NVIDIA"]
    assert not here.virtual.lazy_memory


def test_this_vm_reports_free_pages(places: Places) -> None:
    here = read(places["this-vm"])
    assert here.virtual.lazy_memory
    assert "reports free pages" in here.virtual.lazy_why


def test_page_size_decides_colours(places: Places) -> None:
    here = read(places["aarch64-64k"])
    assert [(c.level, c.colours) for c in here.caches if c.level > 1] == [(2, 2), (3, 32)]


def test_the_id_follows_what_decides_a_levers_sign(tmp_path: Path) -> None:
    one = built.place("thp-never", tmp_path / "a")
    two = built.write(built.thp_never() | built.thp("madvise"), tmp_path / "b")
    three = built.write(built.thp_never() | {"proc/loadavg": "9 9 9 1/1 1"}, tmp_path / "c")
    ids = [machine.read(root).id for root in (one, two, three)]
    assert ids[0] != ids[1]
    assert ids[0] == ids[2]


def test_machines_are_of_one_kind_where_only_their_state_differs(places: Places, tmp_path: Path) -> None:
    here = read(places["this-vm"])
    fields = {"state": machine.Machine().state, "memory": machine.Machine().memory, "rights": machine.Machine().rights}
    facts = machine.facts(msgspec.structs.replace(here, **fields))
    assert machine.stored(facts).id == here.id
    assert machine.differences(facts, here) == []


def test_a_kind_is_read_back_from_the_facts_of_another_version(places: Places) -> None:
    here = read(places["server-2s4n"])
    facts = machine.facts(here) | {"id": "of older days", "caches": [{"size_kb": 48}], "fan": 7}
    assert machine.stored(facts).caches == []
    # What is unknown of one of the two tells nothing.
    assert machine.apart(machine.stored(facts), here) == []
    assert machine.stored({"kernel": ["6"]}).kernel == ""


def test_what_sets_two_kinds_apart_is_named(places: Places) -> None:
    here = read(places["this-vm"])
    facts = machine.facts(here) | {"microcode": "0x1", "kernel": "6.1.0-18-amd64"}
    assert machine.apart(machine.stored(facts), here) == [
        ("kernel", "6.1.0-18-amd64", here.kernel),
        ("microcode", "0x1", here.microcode),
    ]
    ids = {read(places[name]).id for name in built.NAMES}
    assert len(ids) == len(built.NAMES)
