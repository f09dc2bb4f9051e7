# SPDX-License-Identifier: Apache-2.0
"""Papers whose experiments run in the lab: what is kept when one fails, how their targets are judged and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from okosu.bench.rows import Result
from okosu.cli import _lock, main
from okosu.errors import OkosuError
from okosu.records import files
from okosu.records.types import Compared, ExperimentRun, Record, ReproduceFile, ReproducePlan, Tool
from okosu.report import page
from papers import common
from papers.common import judge, programs
from papers.common.base import Experiment, LabExperiment, Measured, Paper, Said, Say
from papers.common.conduct import Conduct
from papers.common.entries import Select, Target
from papers.common.points import Point, Sides
from papers.common.tests.lab import FLOOR, LEAST, MOST, OnAKernel, ours_and_theirs, record


def fails_midway(say: Say) -> Iterator[Record]:
    yield record("ours", 100)
    raise OkosuError("no kernel can be built", "flex is not installed", "apt install flex")


def interrupted(say: Say) -> Iterator[Record]:
    yield record("ours", 100)
    raise KeyboardInterrupt


def broken(say: Say) -> Iterator[Record]:
    yield record("ours", 100)
    raise ZeroDivisionError


def conduct(paper: Paper, quick: bool = False, keep: Callable[[], None] = lambda: None) -> Conduct:
    def none(name: object, words: object) -> Result:
        raise AssertionError(f"{name} was run")

    def said(experiment: Experiment, words: tuple[str, ...]) -> Said:
        raise AssertionError(f"{experiment.name} was run")

    envelope = ReproduceFile(tool=Tool("okosu", "0", ""), machine={"id": "m"}, plan=ReproducePlan())
    return Conduct(paper, quick, envelope, programs.Runner(none, said), lambda _: None, keep)


def judged(target: Target, **planted: Callable[[Say], Iterator[Record]]) -> Compared:
    paper = OnAKernel()
    for name, run in planted.items():
        setattr(paper, name, run)
    paper.targets = lambda: [target]  # type: ignore[method-assign]
    held = conduct(paper)
    held.run()
    return held.envelope.compared[-1]


def test_records_of_the_lab_are_kept_compared_and_named_after_the_machine() -> None:
    held = conduct(OnAKernel())
    held.run()
    assert [one.variant for one in held.envelope.records] == ["ours", "theirs"] * 2
    assert {one.machine for one in held.envelope.records} == {"m"}
    assert {one.platform for one in held.envelope.records} == {"uml"}
    assert held.measured.records["copy"] == held.envelope.records[:2]
    assert held.envelope.compared[0].measured == pytest.approx(99.6)
    assert held.envelope.plan.lab["copy"] == ExperimentRun("okosu lab copy --boots 10", 2)
    assert held.envelope.finished


def test_one_that_fails_midway_keeps_what_it_gave_and_the_others_run() -> None:
    paper = OnAKernel()
    paper.copy = fails_midway
    held = conduct(paper)
    held.run()
    assert [one.variant for one in held.envelope.records] == ["ours", "ours", "theirs"]
    assert held.envelope.plan.missing == {"copy": "no kernel can be built: flex is not installed"}
    assert held.measured.failed["copy"].fix == "apt install flex"
    floor = held.envelope.compared[-1]
    assert floor.holds is None
    assert "the experiment copy did not come to its end: no kernel can be built" in floor.note
    assert held.envelope.compared[0].measured is not None


@pytest.mark.parametrize(("run", "error"), [(interrupted, KeyboardInterrupt), (broken, ZeroDivisionError)])
def test_whatever_ends_one_its_records_are_written(
    run: Callable[[Say], Iterator[Record]], error: type[BaseException]
) -> None:
    kept: list[int] = []
    paper = OnAKernel()
    paper.copy = run
    held = conduct(paper, keep=lambda: kept.append(len(held.envelope.records)))
    with pytest.raises(error):
        held.run()
    assert kept == [1]


def test_records_that_come_slowly_are_written_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    monkeypatch.setattr("papers.common.conduct.KEEP_S", 0.0)
    monkeypatch.setattr("papers.common.conduct.KEEP_PAUSE", 0.0)
    held = conduct(OnAKernel(), keep=lambda: kept.append(len(held.envelope.records)))
    held.run()
    assert kept == [1, 2, 2, 3, 4, 4, 4]


def test_records_that_grow_are_written_at_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile's records come with its first boots and grow with the later ones, for half an hour."""
    samples: list[int] = []

    def growing(say: Say) -> Iterator[Record]:
        say("boot 1")
        yield (one := record("ours", 1))
        for number in (2, 3):
            say(f"boot {number}")
            one.samples.append(1.0)

    monkeypatch.setattr("papers.common.conduct.KEEP_S", 0.0)
    monkeypatch.setattr("papers.common.conduct.KEEP_PAUSE", 0.0)
    paper = OnAKernel()
    paper.copy = growing
    held = conduct(paper, keep=lambda: samples.append(len(held.envelope.records[0].samples)))
    held.run()
    first = samples[0]
    assert samples[:4] == [first, first, first + 1, first + 2]


def test_writing_takes_a_small_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer with each record, and a reproduction may have thousands."""
    now = 0.0
    kept: list[float] = []

    def keep() -> None:
        nonlocal now
        kept.append(now)
        now += 0.5

    def slow(say: Say) -> Iterator[Record]:
        nonlocal now
        for _ in range(30):
            now += 1.0
            yield record("ours", 1)

    monkeypatch.setattr("papers.common.conduct.time.monotonic", lambda: now)
    paper = OnAKernel()
    paper.copy = slow
    conduct(paper, keep=keep).run()
    during = [at for at in kept if at < 30]
    assert during == [2.0, 12.5, 23.0]


def test_quick_leaves_out_what_is_not_quick() -> None:
    held = conduct(OnAKernel(), quick=True)
    held.run()
    assert list(held.measured.records) == ["copy"]
    assert held.envelope.plan.missing == {"faults": programs.LEFT_OUT}
    assert not held.measured.failed


@pytest.mark.parametrize(("ours", "holds"), [(100, True), (104, True), (107, False)])
def test_a_floor_is_judged_over_boots_and_needs_no_second_measurement(ours: float, holds: bool) -> None:
    said = judged(FLOOR, copy=ours_and_theirs(ours, 100))
    assert said.holds is holds
    assert said.measured == pytest.approx(100 / ours)
    assert said.interval is not None
    assert "memcpy n=512 against theirs" in said.note


def test_an_at_least_is_judged_by_the_median_over_boots() -> None:
    assert judged(LEAST, copy=ours_and_theirs(100, 151)).holds is True
    assert judged(LEAST, copy=ours_and_theirs(100, 149)).holds is False


@pytest.mark.parametrize(("ours", "holds"), [(104, True), (106, False)])
def test_an_at_most_bounds_what_ours_costs_in_units_of_theirs(ours: float, holds: bool) -> None:
    said = judged(MOST, faults=ours_and_theirs(ours, 100))
    assert said.holds is holds
    assert said.measured == pytest.approx(ours / 100)
    assert (said.kind, said.sign) == ("at most", "≤")


def test_the_worst_point_of_an_at_most_is_the_highest() -> None:
    costs = [{0: ours} for ours in (104.0, 109.0, 101.0)]
    sides = [Sides(Point(n=n), "k", "ours", "theirs", cost, {0: 100.0}) for n, cost in enumerate(costs, 1)]
    judged = judge.judge(MOST, sides)
    said = judge.conclude(MOST, papers_found(sides), judged, None, "")
    assert said.measured == pytest.approx(1.09)
    assert "missed at k n=2 (1.09)" in said.note
    held = msgspec.structs.replace(MOST, held=True)
    third = Sides(Point(), "k", "ours", "theirs", {0: 100.0, 1: 100.0, 2: 120.0}, dict.fromkeys(range(3), 100.0))
    assert judge.judge(held, [third])[0].weakest == pytest.approx(1.2)
    assert third.label == "k"


def papers_found(sides: list[Sides]) -> judge.Found:
    return judge.Found(sides, [])


@pytest.mark.parametrize(("ours", "exact", "holds"), [(110.0, True, False), (110.0, False, None), (99.0, True, True)])
def test_a_count_that_every_run_repeats_needs_no_rounds(ours: float, exact: bool, holds: bool | None) -> None:
    sides = [Sides(Point(n=1), "k", "ours", "theirs", {0: ours}, {0: 100.0}, exact=exact)]
    said = judge.conclude(FLOOR, papers_found(sides), judge.judge(FLOOR, sides), None, "")
    assert said.holds is holds


def test_a_target_names_a_bench_or_an_experiment() -> None:
    with pytest.raises(ValueError, match="neither"):
        Target(id="t", text="t", kind="floor", value=1)
    with pytest.raises(ValueError, match="both"):
        Target(id="t", text="t", kind="floor", value=1, bench="b", experiment="e")
    with pytest.raises(ValueError, match="belong together"):
        Target(id="t", text="t", kind="floor", value=1, bench="b")
    with pytest.raises(ValueError, match="belong together"):
        Target(id="t", text="t", kind="floor", value=1, experiment="e", select=Select(routine=["k"]))


def test_a_paper_that_forgets_to_say_what_a_target_compares_is_told() -> None:
    paper = OnAKernel()
    with pytest.raises(NotImplementedError, match="kernel: no sides"):
        Paper.sides(paper, FLOOR, Measured())


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    monkeypatch.setattr(common, "load", lambda: {"kernel": OnAKernel()})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(_lock, "path", lambda: tmp_path / "lock")
    return lambda *words: main.dispatch(["reproduce", "kernel", *words])


def test_dry_run_and_list_say_what_would_be_run(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OnAKernel, "copy", broken)
    monkeypatch.setattr(OnAKernel, "asked", [FLOOR, MOST])
    assert command("--dry-run", "--quick") == 0
    assert capsys.readouterr().out == "copy: okosu lab copy --boots 10\nfaults: left out by --quick\n"
    assert command("--list") == 0
    said = capsys.readouterr().out
    assert "at-most; experiment faults" in said
    assert "≤ 1.05" in said


def test_dry_run_says_how_long_it_takes(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = LabExperiment(
        "slow", broken, "okosu lab slow", quick=True, thin=broken, core_seconds=600, thin_core_seconds=5
    )
    monkeypatch.setattr(OnAKernel, "experiments", lambda self: [slow, LabExperiment("more", broken, "okosu lab more")])
    assert command("--dry-run") == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert (first, second) == ("slow: okosu lab slow, about 10 min of one core", "more: okosu lab more")
    assert last.startswith("all of them: about 10 min of one core")
    assert command("--dry-run", "--quick") == 0
    assert "slow: okosu lab slow, about 5 s of one core" in capsys.readouterr().out


def test_a_missing_prerequisite_is_told_in_three_parts(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OnAKernel, "copy", staticmethod(fails_midway))
    assert command() == 1
    said = capsys.readouterr()
    assert "no kernel can be built" in said.err
    assert "fix: apt install flex" in said.err
    assert "0 of 1 targets hold, 0 missed, 1 not judged" in said.out


def test_the_page_shows_claims_and_records(
    command: Callable[..., int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(OnAKernel, "asked", [FLOOR, MOST])
    path = tmp_path / "r.json"
    assert command("--json", str(path)) == 0
    held = files.read(path)
    assert held.finished
    text = page.render([(path, held)])
    for words in ("cycles of a copy", "never below", "≤\N{NARROW NO-BREAK SPACE}1.05", "another machine"):
        assert words in text
