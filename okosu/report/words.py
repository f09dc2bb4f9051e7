# SPDX-License-Identifier: Apache-2.0
"""How a change of a metric is worded: "2.66x faster", "34 % less memory", "3 % slower", each with its interval.

A ratio is kept as t_arm / t_base, below 1 where the arm is better. A person reads the other way round: how many times
faster, how many per cent less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from okosu.records.types import Options
from okosu.report import formats
from okosu.report.model import sane

TIMES = 1.25
"""From this factor on a change is worded as "1.25x", below it in per cent."""
_NO_CHANGE = "no change"


@dataclass(frozen=True)
class Words:
    """The words for one metric. `better` and `worse` follow a factor or a percentage."""

    noun: str
    """What is measured, as in "the program's time"."""
    better: str
    worse: str
    unit: str
    """Of the values that a person reads: "s", "MiB", or "" for a number that the program printed."""
    rate: bool = False
    """The records hold 1 / number, because the number is better where it is higher."""
    time: bool = False

    def value(self, cost: float) -> float:
        """The number that a person knows, from a recorded cost."""
        return 1 / cost if self.rate and cost else cost

    def fell_or_rose(self, base: float, arm: float) -> str:
        """Two values of a person as "3.55 s -> 1.33 s", told apart by as many as five digits."""
        for digits in (3, 4, 5):
            said = [formats.quantity(value, self.unit, digits) for value in (base, arm)]
            if said[0] != said[1]:
                break
        return " -> ".join(said)

    def verdict(self, verdict: str) -> str:
        """A verdict as it is shown: FASTER and SLOWER are words for times."""
        return verdict if self.time else {"FASTER": "BETTER", "SLOWER": "WORSE"}.get(verdict, verdict)

    def change(self, ratio: float | None) -> str:
        """A ratio in words: "1.52x faster", "0.4 % slower", "34 % less memory"; a dash where there is none."""
        if ratio is None or not sane(ratio):
            return formats.DASH
        if ratio == 1:
            return _NO_CHANGE
        scale = self._scale(ratio)
        return f"{scale.text(ratio)} {self.better if ratio < 1 else self.worse}"

    def interval(self, ratio: float | None, interval: tuple[float, float] | None) -> str:
        """The interval in the direction and unit of the change in which `ratio` is worded: "2.4x to 3.2x".

        What points the other way has a minus sign ("-1.0 % to 1.9 %"). A dash where there is no interval.
        """
        if interval is None or ratio is None or not sane(ratio) or not all(sane(end) for end in interval):
            return formats.DASH
        return self._scale(ratio).interval(interval)

    def signed(self, ratio: float | None, interval: tuple[float, float] | None) -> str:
        """A change with its interval, "2.66x faster (2.4x to 3.2x)"; without one, the change alone."""
        bounds = self.interval(ratio, interval)
        return self.change(ratio) + (f" ({bounds})" if bounds != formats.DASH else "")

    def at_most(self, ratio: float) -> str:
        """How much better an arm of at least this ratio can be, without the word: "3 %", "1.4x"; "0 %" from 1 on."""
        if ratio >= 1 or not sane(ratio):
            return formats.setting(0)
        return self._scale(ratio).rounded_up(ratio)

    def _scale(self, ratio: float) -> _Scale:
        better = ratio <= 1
        less = (self.better if better else self.worse).startswith("less")
        # Of a cost that fell, what is left is arm / base; of a rate that fell, its cost rose, and it is base / arm.
        return _Scale(inverse=better != less, share=less, times=not less and max(ratio, 1 / ratio) >= TIMES)


@dataclass(frozen=True)
class _Scale:
    """Where a ratio lies on the axis on which it is read, upwards in the direction of the word beside it."""

    inverse: bool
    """The axis counts base / arm."""
    share: bool
    """The axis counts what is missing from the whole: 34 % less."""
    times: bool
    """It is read as a factor, not in per cent."""

    def at(self, ratio: float) -> float:
        factor = 1 / ratio if self.inverse else ratio
        if self.times:
            return factor
        return 100 * (1 - factor if self.share else factor - 1)

    def text(self, ratio: float) -> str:
        value = self.at(ratio)
        return f"{formats.significant(value)}x" if self.times else formats.percent(value / 100)

    def interval(self, interval: tuple[float, float]) -> str:
        low, high = sorted(map(self.at, interval))
        # A factor, or a percentage of many digits, is read with one digit of the interval's width, others with two.
        width = high - low
        digits = 0 if self.times or abs(high) >= 10 else 1
        decimals = digits + math.ceil(-math.log10(width)) if width > 0 else 3
        most = 4 - math.floor(math.log10(max(1, abs(low), abs(high))))
        decimals = max(1 if self.times and low < 10 else 0, min(3, most, decimals))
        unit = "x" if self.times else formats.PERCENT
        return " to ".join(f"{_unsigned_zero(value, decimals)}{unit}" for value in (low, high))

    def rounded_up(self, ratio: float) -> str:
        value = self.at(ratio)
        if self.times:
            return f"{math.ceil(value * 100) / 100:g}x"
        digits = 0 if value >= 10 else 1 if value >= 0.1 else 2
        return f"{math.ceil(value * 10**digits - 1e-9) / 10**digits:g}{formats.PERCENT}"


def _unsigned_zero(value: float, decimals: int) -> str:
    """The number with so many decimals; what rounds to zero has no minus sign."""
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text


_WORDS = {
    "wall": Words("time", "faster", "slower", "s", time=True),
    "cpu": Words("CPU time", "less CPU time", "more CPU time", "s"),
    "rss": Words("peak memory", "less memory", "more memory", "MiB"),
}


def words(metric: str, better: str = "lower") -> Words:
    """The words for a metric of `okosu try`; `better` says which way a number that the program prints is better."""
    if metric in _WORDS:
        return _WORDS[metric]
    if better == "higher":
        return Words("rate", "more", "less", "", rate=True)
    return Words("value", "less", "more", "")


def of(options: Options) -> Words:
    return words(options.metric, options.better)
