# SPDX-License-Identifier: Apache-2.0
"""A paper whose programs are planted, for the tests of `okosu reproduce`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from okosu.bench.rows import Result, Row
from okosu.records.types import ReproduceFile, ReproducePlan, Tool
from papers.common import programs
from papers.common.base import Experiment, Measured, Ours, Paper, Said
from papers.common.conduct import Conduct
from papers.common.entries import About, Published, Select, Target
from papers.common.tests.rows import result, row

FLOOR = Target(
    id="floor", text="never below", kind="floor", bench="b", select=Select(routine=["k"]), against="peer:p", value=0.95
)
LEAST = Target(
    id="least", text="clearly above", kind="at-least", bench="b", select=Select(routine=["k"]), against="peer:p",
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
    """Gives the planted results in turn, the last of them from then on, and notes what was run."""

    def __init__(self, *results: list[Row] | BaseException) -> None:
        self.results = list(results)
        self.calls: list[tuple[str, list[str]]] = []

    def bench(self, name: str, words: list[str]) -> Result:
        self.calls.append((name, words))
        if name == "slow":
            return result(name, [])
        given = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(given, BaseException):
            raise given
        return result(name, given)

    def listing(self, experiment: Experiment, words: tuple[str, ...]) -> Said:
        self.calls.append((experiment.name, list(words)))
        return Said(0, ({"apples": 2.0},))


def conduct(given: Programs, quick: bool = False, keep: Callable[[], None] = lambda: None) -> Conduct:
    envelope = ReproduceFile(tool=Tool("okosu", "0", ""), machine={"id": "m"}, plan=ReproducePlan(seed=7))
    return Conduct(Planted(), quick, envelope, programs.Runner(given.bench, given.listing), lambda _: None, keep)
