# SPDX-License-Identifier: Apache-2.0
"""Golden values of okosu/stats/paired.py, worked out by hand from binomial tails."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction
from math import inf, isclose
from typing import Any

from golden import refuses


def paired(m: dict[str, Any]) -> None:
    rank, level, ratio, fewest = m["rank"], m["level"], m["ratio"], m["fewest_rounds"]
    five = Fraction(1, 20)
    # 2/2^5 > 1/20 >= 2/2^6; with 9 pairs 2(1 + 9)/512 <= 1/20; with 11, 2(1 + 11)/2048 <= 1/20 < 2(1 + 11 + 55)/2048.
    assert [rank(n, five) for n in range(1, 13)] == [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    # A tail equal to its limit is accepted: 2/2^6, and 2(1 + 6)/2^6.
    assert [rank(6, a) for a in (Fraction(2, 64), Fraction(199, 6400), Fraction(14, 64))] == [1, 0, 2]
    assert [rank(n, Fraction(199, 200)) for n in range(7)] == [0, 0, 1, 1, 2, 2, 3]
    assert rank(2, Fraction(5)) == rank(3, Fraction(5)) - 1 == 1

    assert level(0.05) == five
    assert isinstance(level(0.5), Fraction)
    assert all(refuses("alpha = ", level, a) for a in (0, 1, -0.5, 2))
    assert all(refuses("alpha = ", fewest, a) for a in (0, 1))

    assert [fewest(a) for a in (0.05, 0.05 / 51, 0.05 / 52, 0.999)] == [6, 11, 12, 2]
    assert fewest(0.03125) == 6

    # Rounds may come in any order and with gaps on either side; rounds 2 and 9 occur on one side only.
    a = ratio([12.0, 2.0, 30.0, 99.0], [4.0, 4.0, 10.0, 7.0], [5, 1, 3, 2], [1, 5, 3, 9], 0.05)
    assert (a.median, a.low, a.high, a.pairs) == (3.0, 0.0, inf, 3)
    assert not a.bounded
    values = [float(2**i) for i in (3, 0, 4, 1, 5, 2)]
    b = ratio(values, [1.0] * 6, range(6), range(6), 0.05)
    assert (b.low, b.high, b.pairs) == (1.0, 32.0, 6)
    assert b.bounded
    assert isclose(b.median, 6.0)
    c = ratio([*values, 64.0, 128.0, 256.0], [2.0] * 9, range(9), range(9), 0.05)
    assert (c.median, c.low, c.high, c.pairs) == (8.0, 1.0, 64.0, 9)
    assert refuses("no round has both", ratio, [1.0], [1.0], [0], [1], 0.05)
    assert refuses("no round has both", ratio, [], [], [], [], 0.05)
    one = ratio([3.0], [2.0], [7], [7], 0.05)
    assert (one.median, one.pairs, one.bounded) == (1.5, 1, False)

    assert refuses("alpha = ", ratio, [1.0], [1.0], [0], [0], 1)
    assert refuses("twice", ratio, [1.0, 1.0], [1.0], [0, 0], [0], 0.05)
    assert refuses("twice", ratio, [1.0], [1.0, 2.0], [0], [0, 0], 0.05)
    assert all(refuses("not positive", ratio, [bad], [1.0], [0], [0], 0.05) for bad in (0.0, -1.0, inf, inf - inf))
    assert refuses("not positive", ratio, [1.0], [0.0], [0], [0], 0.05)
    assert refuses("longer than", ratio, [1.0, 2.0], [1.0], [0], [0], 0.05)
    assert refuses("shorter than", ratio, [1.0], [], [0], [0], 0.05)
    assert ratio([0.5], [0.25], [0], [0], 0.05).median == 2.0
    assert m["Interval"](1.0, 0.0, 1e308, 1).bounded
    try:
        b.low = 0.0
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError("an interval can be altered")
