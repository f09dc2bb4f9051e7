# SPDX-License-Identifier: Apache-2.0
"""The levers: C and Python have the same ones, what each needs, and which values it offers to which program."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import msgspec
import pytest

from okosu import levers
from okosu.errors import OkosuError
from okosu.levers import launcher, pin
from okosu.levers.superpage import Superpage
from okosu.machine.model import Cpu, Machine, Node, Pool, Rights, Thp, Virtual
from okosu.machine.program import Program
from okosu.records.measurement import Measurement, Memory

ALL = levers.load()
DYNAMIC = Program("/bin/true", "glibc")
STATIC = Program("/x", "static", preloadable=False, why="it is linked statically, so nothing can be preloaded")
STATIC_GLIBC = Program("/x", "static-glibc", preloadable=False, why="it is linked statically")
SETUID = Program("/x", "glibc", setuid=True, preloadable=False, why="it gains privileges")
GO = Program("/x", "go", preloadable=False, why="Go makes its own system calls")
MUSL = Program("/x", "musl", preloadable=False, why="it uses musl")
BASE = Measurement(wall_ns=10**9, minflt=30000, exit=Memory(anon_kb=100 << 10))

HERE = Machine(
    cpus_online=[0, 1, 2, 3],
    cpus=[Cpu(n, n, 0, n // 2, [n]) for n in range(4)],
    nodes=[Node(0, [0, 1], 1 << 20), Node(1, [2, 3], 1 << 20)],
    glibc="2.36",
    thp=Thp("madvise", pmd_size=2 << 20),
    rights=Rights(cpus=[0, 1, 2, 3], mems=[0, 1]),
)


def with_(**changes: object) -> Machine:
    return msgspec.structs.replace(HERE, **changes)


def test_python_and_c_name_the_same_levers() -> None:
    assert set(ALL) == set(launcher.table())


def test_every_lever_is_one_file_of_its_name() -> None:
    for name, lever in ALL.items():
        assert Path(inspect.getfile(type(lever))).stem == name


def forms(name: str) -> list[str]:
    return [re.sub(r":[A-Z]+$", r":.+", row.value) for row in launcher.table()[name].values]


@pytest.mark.parametrize("program", [DYNAMIC, STATIC, STATIC_GLIBC, SETUID, GO, MUSL], ids=lambda p: p.kind)
@pytest.mark.parametrize("name", ALL)
def test_values_are_values_of_the_launcher(name: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pin, "order", lambda value, _root: (0, 1) if value == "compact" else (1, 0))
    machine = with_(pools=[Pool(2048, 100, 100)])
    arms = ALL[name].values(machine, program, BASE)
    for arm in arms:
        assert arm
        for value in arm:
            assert any(re.fullmatch(form, value) for form in forms(name))
            assert isinstance(ALL[name].loads_preload(value, program), bool)
    if not arms:
        nothing = ALL[name].nothing(machine, program, BASE)
        assert not nothing.ok
        assert nothing.why


def test_excluded_levers_exist() -> None:
    excludes = {name: lever.excludes for name, lever in ALL.items()}
    assert excludes["prezero"] == {"superpage", "retain"}
    assert excludes["threads"] == {"pin"}
    assert all(name in excludes[other] and name != other for name in ALL for other in excludes[name])
    assert {what for lever in ALL.values() for what in lever.observes} == {"threads", "numa", "files"}


def test_a_value_is_found_by_its_form() -> None:
    facts = launcher.table()["pin"]
    row = facts.value("list:0-3")
    assert row is not None
    assert row.value == "list:CPUS"
    assert facts.value("list") is None
    assert facts.value("compactly") is None


def test_only_values_that_a_fork_would_break_ask_for_the_word() -> None:
    assert launcher.options("superpage", "hugetlb") == ["--no-fork"]
    assert launcher.options("prezero", "broker:/run/zerod") == ["--no-fork"]
    assert launcher.options("superpage", "thp") == launcher.options("prezero", "on") == []
    assert launcher.options("unheard-of", "on") == []


# pin


def test_one_cpu_leaves_nothing_to_choose() -> None:
    available = ALL["pin"].needs(with_(rights=Rights(cpus=[2])))
    assert not available.ok
    assert "CPU 2 only, of 4" in available.why
    assert available.fix


def test_policies_with_the_same_order_are_one_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    orders = {"compact": (0, 1), "scatter": (0, 1), "one-per-core": (0,)}
    monkeypatch.setattr(pin, "order", lambda value, _root: orders[value])
    assert ALL["pin"].values(HERE, DYNAMIC, None) == [["compact"], ["one-per-core"]]
    monkeypatch.setattr(pin, "order", lambda _value, _root: ())
    assert ALL["pin"].values(HERE, DYNAMIC, None) == []


def test_a_list_outside_the_mask_does_not_suit() -> None:
    available = ALL["pin"].suits("list:8000", with_(), DYNAMIC)
    assert not available.ok
    assert "8000" in available.why
    assert available.fix


def test_an_unknown_value_is_a_usage_error() -> None:
    with pytest.raises(OkosuError) as caught:
        ALL["pin"].suits("compcat", HERE, DYNAMIC)
    assert caught.value.status == 2
    assert "compact" in caught.value.why


# numa


def test_one_node_leaves_nothing_to_choose() -> None:
    for nodes in ([], HERE.nodes[:1], [HERE.nodes[0], Node(1, [2, 3], 0)]):
        available = ALL["numa"].needs(with_(nodes=nodes))
        assert not available.ok
        assert available.why


def test_a_cpuset_may_leave_one_node() -> None:
    available = ALL["numa"].needs(with_(rights=Rights(mems=[1])))
    assert not available.ok
    assert "node 1 only, of nodes 0-1" in available.why
    assert "cpuset" in available.fix


def test_a_container_may_refuse_set_mempolicy() -> None:
    docker = Virtual(container="docker")
    available = ALL["numa"].needs(with_(virtual=docker, rights=Rights(seccomp=2)))
    assert available.ok
    assert "seccomp" in available.why
    assert "SYS_NICE" in available.fix
    for rights in (Rights(seccomp=2, capabilities=["SYS_NICE"]), Rights(seccomp=0)):
        assert ALL["numa"].needs(with_(virtual=docker, rights=rights)).why == ""


def test_binding_is_not_tried_unasked() -> None:
    assert ALL["numa"].values(HERE, DYNAMIC, None) == [["interleave"], ["local"]]


# superpage


def tiers(machine: Machine, program: Program, base: Measurement | None = BASE) -> list[str]:
    arms = ALL["superpage"].values(machine, program, base)
    assert len(arms) <= 1
    return arms[0] if arms else []


def test_the_ladder_by_program() -> None:
    assert tiers(HERE, DYNAMIC) == ["glibc", "thp", "small"]
    assert tiers(HERE, STATIC_GLIBC) == ["glibc"]
    assert tiers(HERE, MUSL) == tiers(HERE, GO) == tiers(HERE, STATIC) == tiers(HERE, SETUID) == []


def test_the_tunable_came_with_glibc_2_35() -> None:
    assert tiers(with_(glibc="2.34"), DYNAMIC) == ["thp", "small"]
    assert tiers(with_(glibc="2.35"), DYNAMIC) == ["glibc", "thp", "small"]


def test_hugetlb_needs_pages_and_a_program_that_does_not_fork() -> None:
    pools = [Pool(2048, 10, 10)]
    assert tiers(with_(pools=pools), DYNAMIC) == ["glibc", "thp", "small", "hugetlb"]
    assert "hugetlb" not in tiers(with_(pools=pools), DYNAMIC, None)
    forking = msgspec.structs.replace(BASE, forks=1)
    assert "hugetlb" not in tiers(with_(pools=pools), DYNAMIC, forking)
    assert "hugetlb" not in tiers(with_(pools=[Pool(2048, 10, 4, 4)]), DYNAMIC)
    assert "hugetlb" not in tiers(with_(pools=[Pool(1 << 20, 4, 4)]), DYNAMIC)


def test_shared_memory_is_advised_where_the_kernel_heeds_it_and_there_is_some() -> None:
    holds = msgspec.structs.replace(BASE, peak=Memory(anon_kb=64 << 10, shmem_kb=2048), exit=Memory(anon_kb=64 << 10))
    for setting in ("advise", "within_size"):
        there = with_(thp=Thp("madvise", pmd_size=2 << 20, shmem=setting))
        assert tiers(there, DYNAMIC, None) == tiers(there, DYNAMIC, holds) == ["glibc", "thp", "small", "shared"]
        assert "shared" not in tiers(there, DYNAMIC)
        assert tiers(there, STATIC_GLIBC, holds) == ["glibc"]
    for setting in ("", "never", "deny", "always"):
        assert "shared" not in tiers(with_(thp=Thp("madvise", pmd_size=2 << 20, shmem=setting)), DYNAMIC, holds)


def test_collapse_is_never_offered() -> None:
    everything = Rights(capabilities=["SYS_NICE"])
    assert all("collapse" not in tiers(with_(rights=everything), p) for p in (DYNAMIC, STATIC, GO))
    assert ALL["superpage"].nothing(with_(rights=everything), GO, BASE).fix.startswith("okosu try")
    assert "setcap cap_sys_nice" in ALL["superpage"].nothing(HERE, GO, BASE).fix


def test_a_program_without_memory_is_left_alone() -> None:
    tiny = Measurement(wall_ns=1, minflt=150, exit=Memory(anon_kb=300), peak=Memory(anon_kb=400))
    assert tiers(HERE, DYNAMIC, tiny) == []
    assert "less than one huge page" in ALL["superpage"].nothing(HERE, DYNAMIC, tiny).why
    # The memory was freed before any sample saw it, but the page faults show it.
    assert tiers(HERE, DYNAMIC, msgspec.structs.replace(tiny, minflt=5000))


def test_a_larger_huge_page_is_out_of_the_librarys_reach() -> None:
    assert tiers(with_(thp=Thp("madvise", pmd_size=512 << 20)), DYNAMIC) == ["glibc"]


@pytest.mark.parametrize(
    ("machine", "ok", "words"),
    [
        (with_(), True, ""),
        (with_(thp=Thp("always", pmd_size=2 << 20)), True, "base may have them already"),
        (with_(thp=Thp()), False, "no transparent huge pages"),
        (with_(thp=Thp("never")), False, "switched off"),
        (with_(thp=Thp("never"), pools=[Pool(2048, 9, 9)]), True, "the pool has free pages"),
        (with_(thp=Thp("always", pmd_size=2 << 20, sizes={"2048": "never"})), False, "switched off"),
        (with_(rights=Rights(thp_disabled=True)), False, "PR_SET_THP_DISABLE"),
    ],
)
def test_what_superpage_needs(machine: Machine, ok: bool, words: str) -> None:
    available = ALL["superpage"].needs(machine)
    assert available.ok is ok
    assert words in available.why
    assert ok or available.fix


def test_thp_always_is_still_tried() -> None:
    assert tiers(with_(thp=Thp("always", pmd_size=2 << 20)), DYNAMIC) == ["glibc", "thp", "small"]


def test_which_values_load_the_library() -> None:
    loads = Superpage().loads_preload
    values = ("glibc", "thp", "small", "shared", "hugetlb", "collapse")
    assert [value for value in values if loads(value, DYNAMIC)] == ["thp", "small", "shared", "hugetlb"]
    assert not loads("thp", STATIC)


# retain


def test_retain_needs_glibcs_malloc() -> None:
    assert ALL["retain"].values(HERE, DYNAMIC, None) == [["on"]]
    assert ALL["retain"].values(HERE, STATIC_GLIBC, None) == [["on"]]
    for program in (STATIC, GO, MUSL, SETUID):
        assert ALL["retain"].values(HERE, program, None) == []
        assert ALL["retain"].nothing(HERE, program, None).why


@pytest.mark.parametrize(("glibc", "ok"), [("2.36", True), ("2.26", True), ("2.25", False), ("", False), ("x", False)])
def test_tunables_came_with_glibc_2_26(glibc: str, ok: bool) -> None:
    assert ALL["retain"].needs(with_(glibc=glibc)).ok is ok
