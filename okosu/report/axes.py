# SPDX-License-Identifier: Apache-2.0
"""Where the ticks of an axis go: ratios on a logarithmic axis, and times."""

from __future__ import annotations

import math

from okosu.report import formats

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def nice_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 2.5, 5 x 10^n that divides span > 0 into at most `most` steps."""
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(step * power for step in _STEPS if step * power * most >= span * (1 - 1e-9))


def linear_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers in [low, high], low < high."""
    step = nice_step(high - low, most)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def ratio_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round ratios in [low, high], 0 < low < high, for a logarithmic axis; 1 is among them if it is inside.

    They are evenly spaced while the range is narrow, else from the series 1, 2, 5 (or a sparser one, where those would
    be too many).
    """
    if high / low < 4:
        return linear_ticks(low, high, most)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits, every in ((1, 2, 5), 1), ((1, 3), 1), *(((1,), every) for every in range(1, len(decades) + 1)):
        ticks = [digit * 10.0**power for power in decades if power % every == 0 for digit in digits]
        inside = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(inside) <= most:
            break
    return inside


def tick_texts(ticks: list[float]) -> list[str]:
    """The ticks with as many decimals as their steps need; without decimals where each is a whole number."""
    texts = [f"{tick:.10g}" for tick in ticks]
    if len(ticks) > 2 and not math.isclose(ticks[1] - ticks[0], ticks[-1] - ticks[-2], rel_tol=1e-6):
        return texts
    decimals = max((len(text.partition(".")[2]) for text in texts if "e" not in text), default=0)
    return [f"{tick:.{decimals}f}" for tick in ticks]


def scaled(ticks: list[float], unit: str) -> tuple[list[str], str]:
    """The texts of ticks that are samples in `unit`, and the unit that the texts are in."""
    one, name = formats.scale(max((abs(tick) for tick in ticks), default=0.0), unit)
    texts = tick_texts([tick / one for tick in ticks])
    return [formats.count(float(text)) if "." not in text and "e" not in text else text for text in texts], name


def padded(values: list[float], share: float = 0.06, least: float = 0.0) -> tuple[float, float]:
    """The range of the values with a margin on either side, centred, and at least `least` wide."""
    low, high = min(values), max(values)
    if high - low < least:
        middle = (low + high) / 2
        low, high = middle - least / 2, middle + least / 2
    margin = (high - low) * share or abs(high) * share or 1.0
    return low - margin, high + margin
