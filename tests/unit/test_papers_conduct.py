# SPDX-License-Identifier: Apache-2.0
"""A whole reproduction with programs that are planted: what is run, repeated, kept, concluded, printed and exited
with."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from papers_rows import result, row

from okosu import papers
from okosu.bench import drive
from okosu.bench.rows import Absent, Result, Row, from_records
from okosu.cli import _lock, main
from okosu.errors import OkosuError
from okosu.papers import programs
from okosu.papers.base import About, Experiment, Measured, Ours, Paper, Published, Said, Select, Target
from okosu.papers.conduct import Conduct
from okosu.records import files
from okosu.records.types import REPRODUCE_SCHEMA, Envelope, Tool
from okosu.report import claims, page

FLOOR = Target(
    id="floor", text="never below", kind="floor", bench="b", select=Select(kernel=["k"]), against="peer:p", value=0.95
)
LEAST = Target(
    id="least", text="clearly above", kind="at-least", bench="b", select=Select(kernel=["k"]), against="peer:p",
    value=1.5,
)  # fmt: skip


class Planted(Paper):
    """A paper of one bench and one listing."""

    name: ClassVar[str] = "planted"
    asked: ClassVar[list[Target]] = [FLOOR]

    def about(self) -> About:
        return About(name=self.name, title="t", title_en="Planted", authors="Nobody", machine="none")

    def published(self) -> list[Published]:
        common: dict[str, Any] = {"where": "table 1", "text": "a number", "unit": "apples"}
        return [
            Published(id="a", mark="value", value=3, **common),
            Published(id="b", mark="disputed", value=4, why="it is five", **common),
            Published(id="c", mark="statement", value=5, not_measured="no scales", **common),
        ]

    def targets(self) -> list[Target]:
        return self.asked

    def target_source(self) -> str:
        return "the test"

    def experiments(self) -> list[Experiment]:
        return [
            Experiment("l", "okosu-paper-planted-l", ("1",), ("1",), "json"),
            Experiment("b", "okosu-bench-b", ("--rounds", "21", "--sizes", "9"), ("--smoke",)),
            Experiment("slow", "okosu-bench-slow", (), None),
        ]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        line = measured.line("l")
        return {"a": Ours(float(line["apples"]), "other trees"), "b": Ours(5, "counted")} if line else {}


def rows(ours: float, theirs: float = 100.0, sizes: tuple[int, ...] = (1, 2)) -> list[Row]:
    found = []
    for point, n in enumerate(sizes):
        found.append(row("k", "chosen", "okosu", ours, n=n, point=point))
        found.append(row("k", "p", "peer", theirs, n=n, point=point))
    return found


class Programs:
    """Gives the planted results in turn, and notes what was run."""

    def __init__(self, *results: list[Row] | BaseException) -> None:
        self.results = list(results)
        self.calls: list[tuple[str, list[str]]] = []

    def bench(self, name: str, words: list[str]) -> Result:
        self.calls.append((name, words))
        if name == "slow":
            return result(name, [])
        given = self.results.pop(0)
        if isinstance(given, BaseException):
            raise given
        return result(name, given)

    def listing(self, experiment: Experiment, words: tuple[str, ...]) -> Said:
        self.calls.append((experiment.name, list(words)))
        return Said(0, ({"apples": 2.0},))


def conduct(given: Programs, quick: bool = False, keep: Callable[[], None] = lambda: None) -> Conduct:
    envelope = Envelope(schema=REPRODUCE_SCHEMA, tool=Tool("okosu", "0", ""), machine={"id": "m"}, plan={})
    return Conduct(Planted(), quick, envelope, programs.Runner(given.bench, given.listing), lambda _: None, keep)


def test_published_values_stand_beside_ours_and_are_never_judged() -> None:
    held = conduct(Programs(rows(50)))
    held.run()
    a, b, c = (claim for claim in held.envelope.claims if claim.kind == "published")
    assert (a.target, a.measured, a.holds, a.note, a.mark) == (3, 2, None, "other trees", "value")
    assert (b.measured, b.holds) == (5, None)
    assert b.note == "disputed: it is five. counted"
    assert (c.measured, c.note) == (None, "no scales")
    assert held.envelope.finished


def test_a_floor_that_holds_is_measured_once() -> None:
    given = Programs(rows(50))
    held = conduct(given)
    held.run()
    assert [name for name, _ in given.calls] == ["l", "b", "slow"]
    assert held.envelope.claims[-1].holds is True


@pytest.mark.parametrize(("again", "holds"), [(200.0, False), (50.0, True)])
def test_a_floor_that_fails_is_measured_again_in_a_fresh_process(again: float, holds: bool) -> None:
    given = Programs(rows(200), rows(again))
    held = conduct(given)
    held.run()
    name, words = given.calls[-1]
    assert name == "b"
    assert words == ["--rounds", "21", "--only", "k", "--sizes", "1,2"]
    assert held.envelope.claims[-1].holds is holds


def test_an_at_least_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Planted, "asked", [LEAST])
    given = Programs(rows(100))
    held = conduct(given)
    held.run()
    assert len(given.calls) == 3
    assert held.envelope.claims[-1].holds is False


def test_quick_takes_its_own_arguments_and_leaves_out_what_has_none() -> None:
    given = Programs(rows(50))
    held = conduct(given, quick=True)
    held.run()
    assert given.calls == [("l", ["1"]), ("b", ["--smoke"])]
    assert held.envelope.plan["missing"] == {"slow": "--quick leaves it out"}
    assert not held.measured.failed


def test_a_bench_that_fails_costs_its_own_claims_only() -> None:
    held = conduct(Programs(OkosuError("okosu-bench-b not found", "never built")))
    held.run()
    floor = held.envelope.claims[-1]
    assert floor.holds is None
    assert "never built" in floor.note
    assert held.envelope.claims[0].measured == 2
    assert list(held.measured.failed) == ["b"]


def test_a_bench_that_fails_half_way_is_judged_by_what_it_gave() -> None:
    error = drive.BenchError(OkosuError("ended by SIGKILL"), result("b", rows(50)))
    held = conduct(Programs(error))
    held.run()
    floor = held.envelope.claims[-1]
    assert floor.holds is True
    assert "ended by SIGKILL" in floor.note


def test_a_second_measurement_that_fails_leaves_the_floor_undecided() -> None:
    held = conduct(Programs(rows(200), OkosuError("ended by SIGBUS")))
    held.run()
    floor = held.envelope.claims[-1]
    assert floor.holds is None
    assert "not measured again" in floor.note
    assert list(held.measured.failed) == ["b"]


def test_peers_that_could_not_take_part_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    some = result("b", rows(50))
    some.absent.append(Absent(variant="q", why="not installed", fix="make peers"))
    some.absent.append(Absent(variant="r", why="not installed", fix="make peers"))
    monkeypatch.setattr(Planted, "asked", [msgspec.structs.replace(FLOOR, against="peer:p,q")])
    held = conduct(Programs())
    held.measured.rows["b"] = some
    held.conclude()
    assert held.envelope.claims[-1].holds is True
    assert "without q (make peers)" in held.envelope.claims[-1].note


def test_records_hold_every_row_and_number_and_give_them_back() -> None:
    held = conduct(Programs(rows(50)))
    held.run()
    assert len(from_records(held.envelope.records)["b"]) == 4
    (apples,) = [record for record in held.envelope.records if record.metric == "apples"]
    assert apples.samples == [2.0]


def test_everything_is_kept_after_each_program() -> None:
    kept: list[int] = []
    held = conduct(Programs(rows(50)))
    held.keep = lambda: kept.append(len(held.envelope.records))
    held.run()
    assert kept == [1, 5, 5, 5]


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Programs]:
    """Return what puts planted programs in the place of the real ones for `okosu reproduce planted`."""

    def plant(*results: list[Row] | BaseException) -> Programs:
        given = Programs(*results)
        monkeypatch.setattr(papers, "load", lambda: {"planted": Planted()})
        monkeypatch.setattr(drive, "run", lambda name, words: given.bench(name, list(words)))
        monkeypatch.setattr(programs, "listing", given.listing)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
        monkeypatch.setattr(_lock, "path", lambda: tmp_path / "lock")
        return given

    return plant


def run(*words: str) -> int:
    return main.dispatch(["reproduce", *words])


def test_check_exits_3_and_names_each_target_that_does_not_hold(
    planted: Callable[..., Programs], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Planted, "asked", [FLOOR, LEAST])
    planted(rows(200), rows(200))
    assert run("planted", "--check") == 3
    said = capsys.readouterr()
    assert "target floor does not hold: 0.5" in said.err
    assert "target least does not hold" in said.err
    assert "MISSED" in said.out
    assert "0 of 2 targets hold, 2 missed" in said.out


def test_published_values_never_fail_the_check(planted: Callable[..., Programs]) -> None:
    planted(rows(50))
    assert run("planted", "--check") == 0


def test_without_check_a_missed_target_is_only_shown(planted: Callable[..., Programs]) -> None:
    planted(rows(200), rows(200))
    assert run("planted") == 0


def test_a_target_that_was_not_measured_fails_the_check_but_for_quick(
    planted: Callable[..., Programs], capsys: pytest.CaptureFixture[str]
) -> None:
    only_ours = [one for one in rows(50) if one.kind == "okosu"]
    planted(only_ours)
    assert run("planted", "--check") == 3
    assert "target floor was not measured" in capsys.readouterr().err
    planted(only_ours)
    assert run("planted", "--check", "--quick") == 0


def test_a_program_that_fails_is_told_and_exits_1(
    planted: Callable[..., Programs], capsys: pytest.CaptureFixture[str]
) -> None:
    planted(OkosuError("okosu-bench-b ended by SIGSEGV"))
    assert run("planted") == 1
    assert "SIGSEGV" in capsys.readouterr().err


def test_json_on_stdout_is_the_envelope_and_the_table_goes_to_stderr(
    planted: Callable[..., Programs], capsys: pytest.CaptureFixture[str]
) -> None:
    planted(rows(50))
    assert run("planted", "--json", "-") == 0
    said = capsys.readouterr()
    held = json.loads(said.out)
    assert held["schema"] == REPRODUCE_SCHEMA
    assert [claim["id"] for claim in held["claims"]] == ["a", "b", "c", "floor"]
    assert "published" in said.err


def test_the_records_file_reads_back_and_becomes_a_page(planted: Callable[..., Programs], tmp_path: Path) -> None:
    planted(rows(50))
    path = tmp_path / "r.json"
    assert run("planted", "--json", str(path)) == 0
    held = files.read(path)
    assert held.finished
    shown = claims.claims(held)
    assert shown is not None
    assert shown.summary == "1 of 1 hold, 0 missed, 0 not judged"
    text = page.render([(path, held, "")])
    for words in ("other trees", "it is five", "no scales", "never below", "okosu reproduce planted"):
        assert words in text


def test_list_and_dry_run_run_nothing(
    planted: Callable[..., Programs], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = planted()
    assert run("planted", "--list") == 0
    listed = capsys.readouterr().out
    assert "disputed: it is five" in listed
    assert "floor: never below" in listed
    from okosu import native

    monkeypatch.setattr(native, "find", lambda name: Path("/there") / name)
    assert run("planted", "--dry-run", "--quick") == 0
    said = capsys.readouterr().out
    assert "/there/okosu-bench-b --smoke" in said
    assert "slow: left out by --quick" in said
    assert given.calls == []


def test_an_interrupted_run_keeps_and_shows_what_there_is(
    planted: Callable[..., Programs], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    planted(KeyboardInterrupt())
    path = tmp_path / "r.json"
    assert run("planted", "--json", str(path)) == 130
    held = files.read(path)
    assert not held.finished
    assert held.claims[0].measured == 2
    assert "other trees" in capsys.readouterr().out


def test_results_are_plain_data() -> None:
    """A paper must not keep what it compared: the second reproduction in a process starts afresh."""
    assert dataclasses.asdict(Measured())["missing"] == {}
    assert papers.load()["hpc-programming"].compare(Measured()).keys() <= {"3.nprocs-printf", "4.macro"}
