# SPDX-License-Identifier: Apache-2.0
"""The series hugetlb-prezero: what GCC, sparse and smatch say of it: make test-lab-full."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from lab.tests.long.kernel_commits import NEEDS_SMATCH
from lab.tests.long.series_figures import Figures
from papers.zero_offload.tests.long.series_figures import SUBJECT

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")


def test_w1_and_sparse_have_nothing_new_to_say(tmp_path: Path) -> None:
    assert Figures(tmp_path, SUBJECT).complaints() == Counter()


@NEEDS_SMATCH
def test_smatch_has_nothing_new_to_say(tmp_path: Path) -> None:
    assert Figures(tmp_path, SUBJECT).smatch() == Counter()
