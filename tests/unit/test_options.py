# SPDX-License-Identifier: Apache-2.0
"""The options of `okosu try`: parsed, or refused with the three-part error and never with a traceback."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.cli import _options
from okosu.errors import USAGE_ERROR, OkosuError

KNOWN = ["pin", "numa", "superpage", "retain", "copy"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("90", 90), ("90s", 90), ("1.5m", 90), ("2m", 120), ("2h", 7200), ("10min", 600), (" 5 s", 5), ("500ms", 0.5),
        ("1d", 86400), ("1h30m", 5400), ("1h 30m", 5400), ("1d2h3m4s", 93784), ("2m500ms", 120.5),
    ],
)  # fmt: skip
def test_times(text: str, wanted: float) -> None:
    assert _options.seconds(text) == wanted


@pytest.mark.parametrize("text", ["", "s", "0", "0h0m", "-5", "30m1h", "1h30", "5m5m", "1e3", "nan", "inf", "900d"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(OkosuError):
        _options.seconds(text)


def test_commas_inside_a_lever_value() -> None:
    assert _options.lever_list("superpage=thp,pin=list:0,2-3,retain", KNOWN) == {
        "superpage": "thp",
        "pin": "list:0,2-3",
        "retain": "",
    }


def test_an_arm_may_set_several_variables() -> None:
    assert _options.user_arm("je=LD_PRELOAD='/a b.so' X=1=2") == ("je", {"LD_PRELOAD": "/a b.so", "X": "1=2"})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("superpage=faster", ("superpage", "FASTER")), ("pin=not-applied", ("pin", "NOT APPLIED")),
        ("N=4=faster", ("N=4", "FASTER")), ("pin=better", ("pin", "FASTER")),
    ],
)  # fmt: skip
def test_expectations(text: str, wanted: tuple[str, str]) -> None:
    assert _options.expectation(text) == wanted


PARSERS: list[Callable[[str], object]] = [
    _options.seconds,
    _options.share,
    _options.user_arm,
    _options.expectation,
    lambda text: _options.lever_list(text, KNOWN),
    lambda text: _options.metric(text, None),
]


@given(st.text(max_size=40), st.sampled_from(PARSERS))
def test_any_text_is_parsed_or_refused(text: str, parser: Callable[[str], object]) -> None:
    with contextlib.suppress(OkosuError):
        parser(text)
        return
    with pytest.raises(OkosuError) as refused:
        parser(text)
    assert refused.value.status == USAGE_ERROR
    assert refused.value.fix
