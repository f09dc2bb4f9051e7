# SPDX-License-Identifier: Apache-2.0
"""The zero-offload poster beside planted measurements: every entry is compared or excused, and targets are judged."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from okosu.bench.rows import Absent
from okosu.cli import _options, main
from okosu.errors import OkosuError
from okosu.records.measurement import Measurement, Memory
from okosu.records.types import Arm, Compared, Options, Plan, Record
from okosu.trial import conduct
from okosu.trial.runs import Run
from okosu.trial.settle import Settling
from papers import common
from papers.common import judge
from papers.common.base import Measured
from papers.common.entries import Select, Target
from papers.common.judge import conclude
from papers.common.points import Found, Point, Sides
from papers.common.tests.rows import result, row
from papers.zero_offload import lever, paper

PAPER = common.load()["zero-offload"]
MIB2 = 2 << 20


def told(mean: float, pages: float = 300.0) -> dict[str, Any]:
    return {"mean": mean, "deviation": mean / 20, "calls": 900, "pages_per_second": pages, "misses": 0}


def fault(variant: str, cycles: float, mode: str = "backed") -> list[Any]:
    common = {"n": 16 * MIB2, "items": 16, "mode": mode}
    return [
        row("fault-2m", variant, "okosu", 16 * cycles, unit="cycles", **common),
        row("fault-2m", variant, "okosu", 4 * cycles, unit="ns", **common),
    ]


def record(variant: str, samples: list[float], **parameters: str) -> Record:
    return Record(
        tool="t",
        machine="",
        subject=parameters.pop("subject", "okosu-zerod"),
        variant=variant,
        stage="bench",
        metric=parameters.pop("metric", "clear"),
        unit="ns",
        samples=samples,
        rounds=list(range(len(samples))),
        parameters={**parameters},
    )


def measured(co_runner: float = 0.97) -> Measured:
    works = {"jhash-100": 4e6, "aes-1": 4.7e5, "aes-10": 4.6e6}
    rows = {
        "fault": [*fault("thp-touch", 350_000), *fault("thp-touch", 2e7, "unbacked"), *fault("pool-take", 400)],
        "zero-engines": [
            row("post", "nt", "okosu", 150, n=MIB2, items=1),
            row("post", "nt", "okosu", 9999, n=512 * MIB2, items=1),
            row("complete", "nt", "okosu", MIB2 / 60, n=MIB2, unit="ns"),
            row("processor", "nt", "okosu", MIB2 / 50, n=MIB2, unit="ns"),
            row("post", "opencl", "okosu", [7000.0] * 9, n=MIB2, items=1),
            row("complete", "opencl", "okosu", MIB2 / 8, n=MIB2, unit="ns", config="An iGPU"),
            row("processor", "opencl", "okosu", MIB2 / 100, n=MIB2, unit="ns"),
        ],
        "corunner": [
            made
            for routine, cycles in works.items()
            for made in (
                row(routine, "at-fault", "peer", cycles, n=1, extra=told(cycles), config="at the fault"),
                row(routine, "nt", "okosu", co_runner * cycles, n=1, extra=told(co_runner * cycles), config="ahead"),
            )
        ],
    }
    tried = [
        record(arm, [cost, cost * 1.1], subject=program, cpus=cpus)
        for program in ("churn", "numpy")
        for cpus in ("idle", "busy")
        for arm, cost in (("base", 2.0 if cpus == "idle" else 0.98), ("prezero", 1.0))
    ]
    results = {name: result(name, made) for name, made in rows.items()}
    results["zero-engines"].absent.append(Absent(variant="cuda", why="libcuda.so.1 is not there"))
    return Measured(results, {}, {"try": tried})


def outcome(name: str, given: Measured) -> Compared:
    (target,) = [one for one in PAPER.targets() if one.id == name]
    found = PAPER.sides(target, given)
    return conclude(target, found, judge.judge(target, found.sides), None, "")


def test_every_entry_is_compared_or_excused() -> None:
    ours = PAPER.compare(measured())
    for entry in PAPER.published():
        assert (entry.id in ours) != bool(entry.not_measured), entry.id
        assert entry.id not in ours or ours[entry.id].why


def test_nothing_measured_is_nothing_said() -> None:
    assert PAPER.compare(Measured()) == {}


def test_table_1_is_complete() -> None:
    """Three rows of two means and two standard deviations."""
    names = [entry.id for entry in PAPER.published() if entry.where == "Table 1"]
    assert len(names) == 12
    values = {entry.id: entry.value for entry in PAPER.published()}
    for work in ("jhash", "aes-1", "aes-10"):
        assert 1.02 < values[f"t1.{work}.original"] / values[f"t1.{work}.proposal"] < 1.04
        assert values[f"t1.{work}.proposal.std"] < values[f"t1.{work}.original.std"]


def test_what_memory_that_the_host_took_back_costs_is_not_taken_for_a_fault() -> None:
    ours = PAPER.compare(measured())
    assert ours["4.clear"].value == pytest.approx(0.35, rel=0.02)
    assert ours["4.saved"].value == pytest.approx(0.35 - 400e-6 - 150e-6, rel=0.02)
    assert "taken the memory back" in ours["1.clear"].why


def test_posting_is_that_of_a_huge_page() -> None:
    assert PAPER.compare(measured())["4.launch"].value == pytest.approx(150, rel=0.02)


def test_engines_that_are_not_here_are_said_with_what_was_tested_instead() -> None:
    ours = PAPER.compare(measured())
    assert ours["2.device"].value == 1
    assert "nt (60.0 GB/s), opencl on An iGPU (8.0 GB/s)" in ours["2.device"].why
    assert "not here: cuda, tested against a driver of the tests' own" in ours["2.device"].why
    assert "asking a device: opencl 7,000 cycles and 0.011 s of processors a GiB" in ours["4.launch"].why


def test_posting_to_a_gpu_is_judged_where_there_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paper, "GPU", tmp_path / "none")
    assert "post-mailbox" not in [target.id for target in PAPER.targets()]
    monkeypatch.setattr(paper, "GPU", tmp_path)
    given = measured()
    assert outcome("post-mailbox", given).holds is None
    for cost, holds in ((199.0, True), (201.0, False)):
        made = row("post", "cuda-mailbox", "okosu", [cost] * 9, n=MIB2, items=1)
        given.rows["zero-engines"].rows.append(made)
        assert outcome("post-mailbox", given).holds is holds
        given.rows["zero-engines"].rows.remove(made)


class Fake:
    """Runs nothing: base takes 3 s, prezero 1 s and the placebo as long as base."""

    def __init__(self, plan: Plan) -> None:
        self.command, self.settling = plan.options.command, Settling(plan)

    def warm(self, arm: Arm, kb: int) -> None:
        pass

    def uncountable(self) -> str:
        return "nothing runs"

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        seconds = 1.0 if arm.name == "prezero" else 3.0
        told = {"by": "prezero", "blocks": 40, "bytes": 1 << 30, "there": 1 << 30, "clean": 1 << 30, "cleared": 0}
        preload: list[dict[str, object]] = [told] if arm.name == "prezero" else []
        memory = Memory(anon_kb=1 << 20)
        return Run(arm.name, Measurement(int(seconds * 1e9), status=0, exit=memory, preload=preload), "same", seconds)


@pytest.fixture
def hogs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Put Fake in the place of processes, on three CPUs; return how many loops were kept running at a time."""
    counts: list[int] = []

    @contextlib.contextmanager
    def counted(count: int) -> Iterator[None]:
        counts.append(count)
        yield

    monkeypatch.setattr(lever, "hogs", counted)
    monkeypatch.setattr(lever, "_programs", lambda: {"churn": ["/bin/true"]})
    monkeypatch.setattr(lever, "_check_programs", lambda: None)
    monkeypatch.setattr(conduct, "ProcessRunner", Fake)
    monkeypatch.setattr(lever, "_cpus", lambda: 3)
    return counts


def test_programs_run_in_pairs_idle_and_busy(hogs: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    records = list(lever.measure_few(lambda _: None))
    assert hogs == [0, 3]
    assert [(one.variant, one.parameters["cpus"]) for one in records] == [
        ("base", "idle"), ("prezero", "idle"), ("base", "busy"), ("prezero", "busy"),
    ]  # fmt: skip
    assert all(one.rounds == list(range(lever.FEW)) for one in records)
    assert records[0].samples == [3.0] * lever.FEW
    monkeypatch.setattr(lever, "_cpus", lambda: 1)
    with pytest.raises(OkosuError, match="no CPU can idle"):
        list(lever.measure_few(lambda _: None))


def test_as_many_rounds_are_kept_as_were_asked_for_however_soon_they_decide(hogs: list[int]) -> None:
    assert {len(one.samples) for one in list(lever.measure(lambda _: None))} == {lever.ROUNDS}


def test_what_is_shown_is_what_is_measured(hogs: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Options] = []
    run = lever.trial.run
    monkeypatch.setattr(lever.trial, "run", lambda made, *rest: (asked.append(made.plan.options), run(made, *rest)))
    list(lever.measure_few(lambda _: None))
    idle, busy = lever.shown(lever.FEW).splitlines()
    assert idle in busy
    assert busy.startswith("for cpu in $(seq 3); do ")
    words = shlex.split(idle)
    assert words[:2] == ["okosu", "try"]
    assert asked == [_options.parse(main.parse(words[1:]))] * 2
    done = subprocess.run(["/bin/sh", "-n", "-c", busy], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_targets_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "GPU", Path("/nonexistent"))
    given = measured()
    names = ["take", "post", "co-runner", "try-churn", "try-numpy", "try-churn-busy", "try-numpy-busy"]
    assert [target.id for target in PAPER.targets()] == names
    assert all(outcome(name, given).holds for name in names)
    assert outcome("take", given).measured == pytest.approx(875, rel=0.03)
    assert outcome("try-churn", given).measured == pytest.approx(2)
    assert outcome("try-churn-busy", given).measured == pytest.approx(0.98)


def test_a_co_runner_that_is_not_surely_faster_is_missed() -> None:
    """The noise of the planted rows is 1 % to either side: the median gains, the interval holds 1."""
    found = outcome("co-runner", measured(0.9995))
    assert found.holds is False
    assert found.interval is not None
    assert found.interval[0] < 1 < found.interval[1]
    assert outcome("co-runner", measured(1.02)).holds is False


CERTAIN = Target(id="c", text="c", kind="at-least", bench="b", select=Select(routine=["k"]), against="peer:p", value=1,
                 certain=True)  # fmt: skip


@pytest.mark.parametrize(("rounds", "holds"), [(21, True), (4, None)])
def test_what_is_to_be_certain_needs_rounds(rounds: int, holds: bool | None) -> None:
    ours = {n: 1.0 + n / 1000 for n in range(rounds)}
    sides = Sides(Point(), "k", "v", "p", ours, dict.fromkeys(ours, 2.0))
    found = conclude(CERTAIN, Found([sides], []), judge.judge(CERTAIN, [sides]), None, "")
    assert found.holds is holds
    assert judge.in_doubt(CERTAIN, judge.judge(CERTAIN, [sides])) == []
    if holds is None:
        assert "not decided" in found.note
