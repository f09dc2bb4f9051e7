# SPDX-License-Identifier: Apache-2.0
"""Sweeps with data caches: what is run, and what the tables say of it."""

from __future__ import annotations

from collections.abc import Mapping

from okosu.records.types import Record
from papers.scheduling_hardware import caches
from papers.scheduling_hardware.machine import CONTEXTS
from papers.scheduling_hardware.plan import caches as plan
from papers.scheduling_hardware.plan import policies, scaling
from papers.scheduling_hardware.run import POLICIES

GRAINS = plan.GRAINS


def modelled(
    variant: str,
    grain: int,
    sequential: float,
    parallel: float,
    pes: int = 8,
    threads: int = 40,
    told: Mapping[str, str | float] | None = None,
) -> list[Record]:
    """Return the records of a run of the model whose tasks take so many cycles one after the other."""
    said: dict[str, str | float] = {
        "pes": float(pes),
        "threads": float(threads),
        "task": "registers",
        "sample": 4.0,
        "steps": grain / 4,
    }
    parameters = {**said, "creators": 0.0, "policy": "fifo", **(told or {})}
    values = {
        "sequential": sequential * 4 / threads,
        "creating": 1.0,
        "parallel": parallel,
        "instructions": 1.0,
    }
    return [record("model", variant, metric, value, parameters) for metric, value in values.items()]


def record(program: str, variant: str, metric: str, value: float, parameters: Mapping[str, str | float]) -> Record:
    return Record(
        tool="okosu",
        machine="",
        platform="verilator",
        subject=f"rtl {program}.c",
        variant=variant,
        stage="bench",
        metric=metric,
        unit="cycles",
        samples=[value],
        parameters=dict(parameters),
    )


def swept(variant: str, taken: Mapping[int, float], pes: int = 8) -> list[Record]:
    """Return the records of a sweep: 40 tasks of each grain take so many cycles in parallel."""
    return [one for grain, cycles in taken.items() for one in modelled(variant, grain, 40.0 * grain, cycles, pes)]


def test_every_run_is_on_a_machine_with_caches_and_the_bus_for_them() -> None:
    runs = [*plan.contexts(), *plan.grains(8), *plan.scaled(8), *plan.by_policy()]
    held = plan.cached(runs, 512)
    assert {(one.machine.dcache, one.machine.bus) for one in held} == {(512, "pipelined")}
    assert [(one.arguments, one.flags, one.backend) for one in held] == [
        (one.arguments, one.flags, one.backend) for one in runs
    ]


def test_each_sweep_has_hardware_and_software() -> None:
    contexts = plan.contexts()
    assert {one.machine.context for one in contexts if one.backend == "ssh"} == {*CONTEXTS}
    assert len(contexts) == (len(CONTEXTS) + 1) * len(GRAINS)
    for runs in (contexts, plan.grains(64), plan.scaled(64), plan.by_policy()):
        assert {one.backend for one in runs} == {"ssh", "software"}
    assert {one.machine.pes for one in (*plan.grains(64), *plan.scaled(64))} == {64}


def test_software_has_the_policies_that_it_knows_and_no_others() -> None:
    runs = plan.by_policy()
    assert {one.told["policy"] for one in runs if one.backend == "ssh"} == {*POLICIES}
    assert {one.told["policy"] for one in runs if one.backend == "software"} == {*plan.SOFTWARE_POLICIES}
    assert {one.program for one in runs} == {*policies.PROGRAMS}
    assert [one for one in plan.scaled(8) if one.backend == "ssh"] == scaling.runs([8])
    assert {one.told["policy"] for one in plan.scaled(8) if one.backend == "software"} == {"fifo", "lifo"}


def test_a_kind_of_contexts_pays_between_the_grains_where_it_begins_to() -> None:
    held = [
        *swept("ssh soft", {grain: 20.0 * grain for grain in GRAINS}),
        *swept("ssh banked", {GRAINS[0]: 80.0 * GRAINS[0], GRAINS[1]: 20.0 * GRAINS[1], GRAINS[2]: 10.0 * GRAINS[2]}),
        *swept("software", {grain: 80.0 * grain for grain in GRAINS}),
    ]
    table = caches.by_context(held)
    assert table.head == ["threads by", "20", "40", "100", "300", "1,000", "3,000", "10,000", "30,000", "pays from"]
    assert table.body == [
        ["hardware, soft", *["2.00"] * 8, "all of these"],
        ["hardware, banked", "0.50", "2.00", "4.00", *["–"] * 5, "27"],
        ["software", *["0.50"] * 8, "none of these"],
    ]


def test_hardware_pays_no_more_where_software_stays_close() -> None:
    times = dict(zip(GRAINS, (9.0, 8.0, 1.08, 3.0, 1.09, 1.04, 1.02, 1.001), strict=True))
    held = [
        *swept("ssh banked", {grain: 10.0 * grain for grain in GRAINS}, 2),
        *swept("software", {grain: 10.0 * grain * times[grain] for grain in GRAINS}, 2),
    ]
    table = caches.where_it_ends(held)
    assert table.head[-3:] == ["at most 10 % longer from", "at most 5 % longer from", "at most 1 % longer from"]
    assert table.body == [
        ["2", "9.00", "8.00", "1.08", "3.00", "1.09", "1.04", "1.02", "1.00", "1,000", "3,000", "30,000"],
    ]
    far = [*swept("ssh banked", {GRAINS[0]: 100.0}), *swept("software", {GRAINS[0]: 200.0})]
    assert caches.where_it_ends(far).body == [["8", "2.00", *["–"] * 7, *["none of these"] * 3]]


def test_grains_are_shown_by_pes_hardware_first() -> None:
    held = [
        *swept("software", {GRAINS[0]: 80.0 * GRAINS[0]}, 4),
        *swept("ssh banked", {GRAINS[0]: 10.0 * GRAINS[0]}, 4),
        *swept("ssh banked", {GRAINS[0]: 40.0 * GRAINS[0]}, 1),
    ]
    assert [row[:3] for row in caches.by_pes(held).body] == [
        ["1", "hardware", "1.00"],
        ["4", "hardware", "4.00"],
        ["4", "software", "0.50"],
    ]


def test_an_efficiency_is_that_of_its_task_policy_and_back_end() -> None:
    held = [
        *modelled("software", 1000, 40_000.0, 10_000.0),
        *modelled("ssh banked", 1000, 40_000.0, 6_250.0, told={"task": "grain", "policy": "affinity", "steps": 33.0}),
        *modelled("ssh banked", 1000, 40_000.0, 10_000.0, told={"task": "grain", "creators": 2.0, "steps": 33.0}),
        *modelled("ssh banked", 1000, 40_000.0, 5_000.0, told={"task": "25 %", "steps": 50.0}),
    ]
    table = caches.efficiency(held)
    shown = [dict(zip(table.head, row, strict=True)) for row in table.body]
    assert [(one["PEs"], one["threads by"]) for one in shown] == [("8", "hardware"), ("8", "software")]
    assert {name: text for name, text in shown[0].items() if "%" in text} == {
        "grain, affinity": "80 %",
        "grain, tree": "50 %",
        "25 %": "100 %",
    }
    assert {name: text for name, text in shown[1].items() if "%" in text} == {"registers": "50 %"}


def test_programs_are_shown_by_policy_and_back_end() -> None:
    held = [
        record("tree", "ssh banked", "cycles", 1234.0, {"policy": "rr"}),
        record("tree", "software", "cycles", 5678.0, {"policy": "fifo"}),
    ]
    table = caches.by_policy(held)
    assert table.head == ["program", "threads by", *POLICIES]
    assert table.body == [
        ["`tree`", "hardware", "–", "1,234", "–", "–", "–", "–"],
        ["`tree`", "software", "5,678", "–", "–", "–", "–", "–"],
    ]
