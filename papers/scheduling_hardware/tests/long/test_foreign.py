# SPDX-License-Identifier: Apache-2.0
"""The suites that others wrote, where they can be had: each verdict and number is that of the committed table."""

from __future__ import annotations

import os
import warnings

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import foreign
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = [
    *NEEDS,
    pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it"),
    pytest.mark.timeout(5400),
]


@pytest.mark.parametrize("name", foreign.SUITES)
def test_a_suite_gives_what_its_table_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        for source in foreign.SUITES[name]:
            foreign.fetched(source)
    except OkosuError as error:
        # pytest tells no reason of a skipped test in its short form, but warnings it does.
        warnings.warn(f"{name} is not compared: {error.what}: {error.why}", stacklevel=1)
        pytest.skip(f"{error.what}: {error.why}")
    status = foreign.compare(name, jobs=1)
    assert status == 0, capsys.readouterr().out
