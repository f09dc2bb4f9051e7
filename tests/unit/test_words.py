# SPDX-License-Identifier: Apache-2.0
"""The words for a change: they follow the metric and the sign, and the interval reads in their direction."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from okosu.report import formats, words
from okosu.report.words import Words

TIME, CPU, RSS = (words.words(metric) for metric in ("wall", "cpu", "rss"))
COST, RATE = words.words("regex", "lower"), words.words("regex", "higher")
RATIOS = st.floats(1e-4, 1e4)


@pytest.mark.parametrize(
    ("said", "ratio", "interval", "text"),
    [
        (TIME, 1 / 2.66, (1 / 3.2, 1 / 2.4), "2.66x faster (2.4x to 3.2x)"),
        (TIME, 1 / 9.36, (1 / 9.4, 1 / 9.31), "9.36x faster (9.31x to 9.40x)"),
        (TIME, 1 / 1.031, (1 / 1.042, 1 / 1.015), "3.1 % faster (1.5 % to 4.2 %)"),
        (TIME, 1.03, (1.01, 1.05), "3.0 % slower (1.0 % to 5.0 %)"),
        (TIME, 2.5, (2.0, 4.0), "2.50x slower (2.0x to 4.0x)"),
        (TIME, 1 / 1.004, (0.99, 1.02), "0.40 % faster (-2.0 % to 1.0 %)"),
        (TIME, 1 / 1.3, (1 / 1.7, 1 / 0.9), "1.30x faster (0.9x to 1.7x)"),
        (TIME, 1.0, (0.999, 1.001), "no change (-0.10 % to 0.10 %)"),
        (TIME, 1.0, None, "no change"),
        (CPU, 0.5, None, "50 % less CPU time"),
        (CPU, 1.5, None, "1.50x more CPU time"),
        (RSS, 0.1536, (0.15, 0.16), "85 % less memory (84 % to 85 %)"),
        (RSS, 1.5, (1.4, 1.6), "1.50x more memory (1.4x to 1.6x)"),
        (RSS, 1.02, None, "2.0 % more memory"),
        (COST, 0.89, None, "11 % less"),
        (COST, 1.1, None, "10 % more"),
        (RATE, 1 / 2.66, (1 / 3.2, 1 / 2.4), "2.66x more (2.4x to 3.2x)"),
        (RATE, 1.25, (1.2, 1.3), "20 % less (17 % to 23 %)"),
        (TIME, None, None, "–"),
        (TIME, 0.0, (0.0, 1.0), "–"),
    ],
)  # fmt: skip
def test_a_change_is_said_in_the_words_of_its_metric(
    said: Words, ratio: float | None, interval: tuple[float, float] | None, text: str
) -> None:
    assert formats.plain(said.signed(ratio, interval)) == text


@given(RATIOS, st.floats(1.001, 3), st.floats(1.001, 3), st.sampled_from([TIME, CPU, RSS, COST, RATE]))
@example(1.0, 2.0, 2.0, TIME)
def test_the_words_follow_the_sign_and_the_interval_holds_the_change(
    ratio: float, below: float, above: float, said: Words
) -> None:
    change = said.change(ratio)
    if ratio != 1:
        assert change.endswith(said.better if ratio < 1 else said.worse)
    assert said.time or not re.search("faster|slower", change)
    low, high = re.findall(r"-?[\d.]+", said.interval(ratio, (ratio / below, ratio * above)))
    assert float(low) <= float(high)
    # No change has no direction of its own, and is read as one for the better.
    better = ratio <= 1
    beyond = said.interval(ratio, (ratio / below, ratio) if better else (ratio, ratio * above))
    assert not beyond.startswith("-")


@given(RATIOS)
def test_a_bound_is_rounded_away_from_none(low: float) -> None:
    text = TIME.at_most(low)
    number = float(re.findall(r"[\d.]+", text)[0])
    gain = (1 / low - 1) * 100 if low < 1 else 0
    assert (number - 1) * 100 >= gain - 1e-6 if text.endswith("x") else number >= gain - 1e-6


def test_two_values_have_the_digits_that_tell_them_apart() -> None:
    assert formats.plain(TIME.fell_or_rose(3.5512, 1.3312)) == "3.55 s -> 1.33 s"
    assert formats.plain(TIME.fell_or_rose(3.5512, 3.5478)) == "3.551 s -> 3.548 s"
    assert formats.plain(RSS.fell_or_rose(2048.0, 512.0)) == "2.00 GiB -> 512 MiB"
    assert formats.plain(RATE.fell_or_rose(1000.0, 2660.0)) == "1000 -> 2660"
