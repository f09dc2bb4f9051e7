# SPDX-License-Identifier: Apache-2.0
"""Series of x86: what GCC and sparse say of them: make test-lab-full."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from papers.common.tests.long.series_figures import SUBJECTS, Figures

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")


@pytest.fixture(scope="module", params=SUBJECTS)
def figures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Figures:
    return Figures(tmp_path_factory.mktemp(request.param), request.param)


def test_w1_and_sparse_have_nothing_new_to_say(figures: Figures) -> None:
    assert figures.complaints() == Counter()
