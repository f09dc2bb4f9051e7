# SPDX-License-Identifier: Apache-2.0
"""The printed table: 80 columns whatever the verdicts, names and numbers are, and no arm is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sim import session

from okosu.cli import _options, _table
from okosu.records.types import TryFile, Verdict
from okosu.report import view

NAMES = st.text("abcdefghij+=-:", min_size=1, max_size=60)
RATIOS = st.floats(1e-3, 9999)


def trial(verdicts: list[Verdict]) -> TryFile:
    made = session()
    made.plan.pilot_s = 1.0
    made.envelope.verdicts = verdicts
    return made.envelope


@given(
    st.lists(
        st.builds(
            lambda arm, verdict, ratio, spread, rounds, headline: Verdict(
                arm=arm,
                verdict=verdict,
                ratio=ratio,
                interval=(ratio / spread, ratio * spread),
                rounds=rounds,
                headline=headline,
                applied=True,
                why="because of this " * 9,
                proof="seen " * 40,
            ),
            NAMES,
            st.sampled_from(_options.VERDICTS),
            RATIOS,
            st.floats(1, 9),
            st.integers(0, 99_999),
            st.booleans(),
        ),
        max_size=6,
        unique_by=lambda v: v.arm,
    )
)
def test_no_line_is_wider_than_80_columns(verdicts: list[Verdict]) -> None:
    text = _table.render(trial(verdicts))
    assert max(map(len, text.splitlines())) <= 80
    for v in verdicts:
        assert v.verdict in text


@pytest.mark.parametrize(("ratio", "said"), [(0.5, "2.00×"), (0.0667, "15.0×"), (0.999, "0.10 %")])
def test_the_headline_says_how_many_times(ratio: float, said: str) -> None:
    best = Verdict(arm="a", verdict="FASTER", ratio=ratio, interval=(ratio * 0.9, ratio), rounds=9, headline=True)
    assert _table.render(trial([best])).startswith(f"{said} faster with a.")


def test_a_trial_interrupted_in_its_pilot_claims_nothing() -> None:
    assert _table.render(session().envelope).startswith("Nothing is decided yet. The pilot did not end.")


def test_the_table_the_readme_and_the_page_show_the_same_cells() -> None:
    file = trial([Verdict(arm="a", verdict="FASTER", ratio=0.5, interval=(0.4, 0.6), rounds=9, proof="seen", why="so")])
    (row,) = view.of(file).rows
    text = " ".join(_table.render(file).split())
    for cell in (row.arm, row.ratio, row.rounds, row.verdict, "a: why: so", "a: effect: seen"):
        assert cell in text
