# SPDX-License-Identifier: Apache-2.0
"""Pinning: which CPU each thread gets, and that other threads and processes are not restricted to it."""

from __future__ import annotations

import os

import pytest
from preload_tool import THP, build, passed, run

pytestmark = pytest.mark.preloads

ALLOWED = sorted(os.sched_getaffinity(0))
ORDER = ALLOWED[:3][::-1]  # not the order of the numbers, so that it shows
PIN = {"OKOSU_PIN": ",".join(map(str, ORDER))}
two_cpus = pytest.mark.skipif(len(ALLOWED) < 2, reason="one CPU: every mask is the same")


def masks(stdout: str) -> dict[str, list[int]]:
    """The masks that the probe printed, one line `name cpu…` each."""
    lines = [line.split() for line in stdout.splitlines()]
    return {words[0]: [int(w) for w in words[1:]] for words in lines if words[0] not in ("seen", "popen", "set")}


@two_cpus
@pytest.mark.parametrize("children", ["0", "1"])
def test_threads_take_the_list_in_turn_and_children_the_whole(children: str) -> None:
    ran = passed(run("affinity", levers=PIN | {"OKOSU_CHILDREN": children}, root=True))
    seen = masks(ran.stdout)
    for number, name in enumerate(["main", "thread1", "thread2", "thread3"]):
        assert seen[name] == [ORDER[number % len(ORDER)]], name
    whole = sorted(ORDER)
    replaced = ("execv", "execl", "execlp", "execle", "fexecve", "execveat")
    for name in ("own", "c11", "fork", "fork-thread", "spawn", *replaced):
        assert seen[name] == whole, name
    assert seen["after"] == seen["main"], "a failed exec left the thread off its CPU"

    counts = [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("seen")]
    assert counts == [str(len(whole))] * 2, "a program that counts its CPUs must see them all"
    assert ("set 1" in ran.stdout) or 0 not in ALLOWED, "the program's own mask must be told truly"

    evidence = ran.evidence[-1]
    assert evidence["threads_pinned"] == 4
    assert evidence["pins"] == ",".join(str(ORDER[n % len(ORDER)]) for n in range(4))


@two_cpus
def test_popen_runs_on_the_whole_list() -> None:
    with_pin = passed(run("affinity", levers=PIN, root=True, before=lambda: os.sched_setaffinity(0, ORDER)))
    base = passed(run("affinity", preload=False, before=lambda: os.sched_setaffinity(0, ORDER)))

    def popen(stdout: str) -> list[str]:
        return [line for line in stdout.splitlines() if line.startswith("popen")]

    assert popen(with_pin.stdout) == popen(base.stdout) != []


def test_only_the_root_pins() -> None:
    ran = passed(run("affinity", levers=PIN | {"OKOSU_ROOT_PID": "1"}))
    assert masks(ran.stdout)["main"] == ALLOWED
    assert ran.evidence[-1]["threads_pinned"] == 0


@two_cpus
def test_an_exec_child_on_one_cpu_of_the_list_is_freed() -> None:
    def pinned() -> None:
        os.sched_setaffinity(0, ORDER[:1])

    child = passed(run("mask", levers=PIN | {"OKOSU_ROOT_PID": "1"}, before=pinned))
    assert masks(child.stdout)["mask"] == sorted(ORDER)
    other = passed(run("mask", levers={"OKOSU_PIN": str(ORDER[1]), "OKOSU_ROOT_PID": "1"}, before=pinned))
    assert masks(other.stdout)["mask"] == ORDER[:1], "a mask that is not ours was widened"


def test_a_cpu_that_does_not_exist_is_a_reason() -> None:
    ran = passed(run("mask", levers={"OKOSU_PIN": "8000"}, root=True))
    assert masks(ran.stdout)["mask"] == ALLOWED
    assert "a thread could not be pinned to its CPU" in ran.evidence[-1]["reasons"]


@pytest.mark.parametrize("levers", [{}, PIN, THP, PIN | THP])
def test_thread_creation_at_its_edges(levers: dict[str, str]) -> None:
    passed(run("thread-edges", levers=levers, root=True))


@two_cpus
def test_openmp_places_its_own_threads() -> None:
    program = build("openmp", "-fopenmp", "openmp.c")
    places = {"OMP_PLACES": ",".join(f"{{{cpu}}}" for cpu in ORDER[:2][::-1]), "OMP_PROC_BIND": "true"}
    placed = masks(passed(run(levers=PIN | places, root=True, program=program)).stdout)
    assert placed == {"0": [ORDER[1]], "1": [ORDER[0]]}
    loose = masks(passed(run(levers=PIN, root=True, program=program)).stdout)
    assert loose == {"0": [ORDER[0]], "1": [ORDER[1]]}
