# SPDX-License-Identifier: Apache-2.0
"""The proof of the lever copy, as a function of the library's counts."""

from __future__ import annotations

import msgspec
import pytest

from okosu import levers
from okosu.levers.base import Availability
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

COPY = levers.load()["copy"]
BASE = Measurement(wall_ns=10**9)


def run(*lines: dict[str, object]) -> Measurement:
    return Measurement(wall_ns=10**9, preload=[{"pid": 1, "superpage": ""}, *lines])


def line(
    classes: dict[str, list[int]], sets: dict[str, list[int]] | None = None, as_asked: bool = True
) -> dict[str, object]:
    return {"pid": 1, "by": "copy", "as_asked": as_asked, "classes": classes, "set_classes": sets or {}}


def prove(measured: Measurement, pilot: Measurement | None = None) -> Proof:
    return COPY.proof("auto", measured, BASE, pilot)


def test_calls_and_bytes_of_all_processes_by_size() -> None:
    proof = prove(run(line({"4096": [10_000, 30 << 20]}, {"64": [5, 320]}), line({"4096": [2, 8000]})))
    assert proof.holds
    assert proof.values == {"calls": 10_007.0, "bytes": float((30 << 20) + 8320)}
    assert proof.text == "10,007 calls, 30.01 MiB, 100 % of it in pieces of 2 KiB to 4 KiB"


@pytest.mark.parametrize(
    ("calls", "size", "holds"),
    [(9999, (1 << 24) - 1, False), (10_000, 10_000, True), (1, 1 << 24, True), (0, 0, False)],
)
def test_a_program_that_hardly_copies_proves_nothing(calls: int, size: int, holds: bool) -> None:
    assert prove(run(line({"64": [calls, size]} if calls else {}))).holds is holds


def test_a_run_that_did_less_work_than_the_pilot_is_expected_to_copy_less() -> None:
    """As that of a service whose load lasts a fixed time, on a machine that is busier than it was."""
    pilot = msgspec.structs.replace(run(line({"64": [20_000, 20_000]})), user_ns=8 * 10**8, sys_ns=2 * 10**8)
    short = msgspec.structs.replace(run(line({"64": [2100, 2100]})), user_ns=10**8, sys_ns=10**8)
    assert prove(short, pilot).holds
    assert not prove(msgspec.structs.replace(short, user_ns=2 * 10**8), pilot).holds


def test_no_evidence_is_no_proof() -> None:
    assert not prove(run()).holds
    assert "not loaded" in prove(run()).text


def test_a_choice_that_was_not_obeyed_is_no_proof() -> None:
    assert not prove(run(line({"64": [20_000, 20_000]}, as_asked=False))).holds


@pytest.mark.parametrize(("calls", "holds"), [(10_000, True), (9_999, False), (40_000, True)])
def test_later_runs_do_at_least_half_of_what_the_pilot_did(calls: int, holds: bool) -> None:
    pilot = run(line({"64": [20_000, 20_000]}))
    proof = prove(run(line({"64": [calls, calls]})), pilot)
    assert proof.holds is holds
    assert ("where the pilot had 20,000" in proof.text) is not holds


def test_a_run_that_stopped_counting_copied_enough() -> None:
    pilot = run(line({"64": [200_000, 200_000]}), line({"64": [200_000, 200_000]}))
    stopped = line({"64": [150_000, 150_000]}) | {"counted_all": False}
    assert prove(run(stopped), pilot).holds
    assert prove(run(stopped)).text.startswith("150,000 calls and more, ")
    assert not prove(run(line({"64": [150_000, 150_000]})), pilot).holds


@pytest.mark.parametrize(("learned", "value"), [(False, "auto"), (True, "profile")])
def test_only_programs_that_can_be_preloaded_have_an_arm(
    monkeypatch: pytest.MonkeyPatch, learned: bool, value: str
) -> None:
    monkeypatch.setattr(COPY, "suits", lambda *_: Availability(learned))
    dynamic = Program(path="/bin/x", kind="glibc", preloadable=True)
    static = Program(path="/bin/x", kind="static", preloadable=False, why="it is static")
    assert COPY.values(None, dynamic, BASE) == [[value]]  # type: ignore[arg-type]
    assert COPY.values(None, static, BASE) == []  # type: ignore[arg-type]
    assert COPY.nothing(None, static, BASE).why == "it is static"  # type: ignore[arg-type]
