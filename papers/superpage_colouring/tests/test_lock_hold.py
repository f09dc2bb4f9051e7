# SPDX-License-Identifier: Apache-2.0
"""How long a lock was held: quantiles of what was counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.superpage_colouring.tests.long.lock_hold import Holds


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.floats(0.01, 1))
def test_a_quantile_is_the_least_that_the_share_does_not_exceed(took: list[int], share: float) -> None:
    holds = Holds({value: took.count(value) for value in took})
    assert holds.number == len(took)
    assert holds.longest == max(took)
    found = holds.quantile(share)
    assert sum(value <= found for value in took) >= share * len(took)
    assert sum(value < found for value in took) < share * len(took)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_without_holds_everything_is_nothing(share: float) -> None:
    holds = Holds({})
    assert (holds.number, holds.longest, holds.quantile(share)) == (0, 0, 0)
