# SPDX-License-Identifier: Apache-2.0
"""How long a long test is: its short form in `make test`, its length in `make test-lab` and `make test-lab-full`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

T = TypeVar("T")


def length(short: T, lab: T, full: T | None = None) -> T:
    """Return the one that OKOSU_LAB asks for (unset, 1 or full): numbers of steps, examples or replications.

    Never seconds: what a test does is the same on every machine. Without `full` it is that of the lab.
    """
    asked = os.environ.get("OKOSU_LAB")
    if asked is None:
        return short
    return full if asked == "full" and full is not None else lab


def some(cases: Iterable[T], short: int = 2) -> list[ParameterSet]:
    """Return the cases as parameters of a test: the first `short` for every run, the others for `make test-lab` alone.

    For what is long in sum only. The values are to be in the order of how much they find.
    """
    found = []
    for at, case in enumerate(cases):
        values = case if isinstance(case, tuple) else (case,)
        found.append(pytest.param(*values, marks=[pytest.mark.long] if at >= short else []))
    return found


class Idleness:
    """Which share of the CPUs' time was idle inside the `with` block: `share`, from 0 to 1.

    For a test of something that works only on idle CPUs: where there were none, it has nothing to judge.
    """

    def __enter__(self) -> Idleness:
        self.before = self._times()
        self.share = 1.0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        spent = [after - before for before, after in zip(self.before, self._times(), strict=True)]
        self.share = (spent[3] + spent[4]) / max(1, sum(spent))

    @staticmethod
    def _times() -> list[int]:
        """Ticks of user, nice, system, idle, iowait, irq, softirq, steal."""
        return [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
