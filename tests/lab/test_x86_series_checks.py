# SPDX-License-Identifier: Apache-2.0
"""Series of x86: what GCC and sparse say of them, and that the cover letters' figures are so: make test-lab-full."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from series_figures import SUBJECTS, Figures

from okosu.lab import series, source

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")


@pytest.fixture(scope="module", params=SUBJECTS)
def figures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Figures:
    return Figures(tmp_path_factory.mktemp(request.param), request.param)


def test_w1_and_sparse_have_nothing_new_to_say(figures: Figures) -> None:
    assert figures.complaints() == Counter()


def test_the_cover_letter_has_the_figures(figures: Figures) -> None:
    if source.find().version != series.base_version():
        pytest.skip("the cover letter is about another version of Linux")
    letter = series.find(figures.name).patches[0].parent / "cover-letter.txt"
    assert figures.text() in letter.read_text()
