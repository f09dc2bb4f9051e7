# SPDX-License-Identifier: Apache-2.0
"""`okosu reproduce` with planted programs: what it prints, writes and exits with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from okosu.bench import drive
from okosu.bench.rows import Row
from okosu.cli import _lock, main
from okosu.errors import OkosuError
from okosu.records import files
from okosu.report import compared, page
from papers import common
from papers.common import programs
from papers.common.tests.planted import FLOOR, LEAST, Planted, Programs, rows


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Programs]:
    """Return what puts planted programs in the place of the real ones for `okosu reproduce planted`."""

    def plant(*results: list[Row] | BaseException) -> Programs:
        given = Programs(*results)
        monkeypatch.setattr(common, "load", lambda: {"planted": Planted()})
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
    assert held["schema"] == "okosu.reproduce/2"
    assert [item["id"] for item in held["compared"]] == ["a", "b", "c", "floor"]
    assert "published" in said.err


def test_the_records_file_reads_back_and_becomes_a_page(planted: Callable[..., Programs], tmp_path: Path) -> None:
    planted(rows(50))
    path = tmp_path / "r.json"
    assert run("planted", "--json", str(path)) == 0
    held = files.read(path)
    assert held.finished
    shown = compared.compared(held)
    assert shown is not None
    assert shown.summary == "1 of 1 hold, 0 missed, 0 not judged"
    text = page.render([(path, held)])
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


def test_an_instruction_set_is_for_papers_that_build_processors(
    planted: Callable[..., Programs],
) -> None:
    given = planted()
    with pytest.raises(OkosuError, match="planted builds no processors") as error:
        run("planted", "--isa", "rv32")
    assert error.value.status == 2
    assert given.calls == []


def test_an_interrupted_run_keeps_and_shows_what_there_is(
    planted: Callable[..., Programs], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    planted(KeyboardInterrupt())
    path = tmp_path / "r.json"
    assert run("planted", "--json", str(path)) == 130
    held = files.read(path)
    assert not held.finished
    assert held.compared[0].measured == 2
    assert "other trees" in capsys.readouterr().out
