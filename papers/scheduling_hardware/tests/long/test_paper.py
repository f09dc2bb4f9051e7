# SPDX-License-Identifier: Apache-2.0
"""okosu reproduce scheduling-hardware, quick: on two machines of 8 PEs it comes to its end, and says what must hold."""

from __future__ import annotations

import pytest

from okosu.records.types import Claim, Envelope
from papers import common
from papers.common.tests.long import quick_paper
from papers.scheduling_hardware.report import parts as machine_parts
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS
PAPER = common.load()["scheduling-hardware"]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Envelope:
    return quick_paper.reproduce(PAPER.name, tmp_path_factory.mktemp("reproduce"))


@pytest.fixture(scope="module")
def claims(held: Envelope) -> dict[str, Claim]:
    return {claim.id: claim for claim in held.claims}


def measured(claims: dict[str, Claim], name: str) -> float:
    value = claims[name].measured
    assert value is not None, claims[name].note
    return value


def test_every_run_gave_its_cycles(held: Envelope) -> None:
    assert held.finished
    assert not held.plan.get("missing")
    assert {record.platform for record in held.records} == {"verilator"}
    assert [record.note for record in held.records if not record.samples] == []


def test_every_published_entry_has_its_number_but_the_excused(claims: dict[str, Claim]) -> None:
    for entry in PAPER.published():
        assert (claims[entry.id].measured is None) == bool(entry.not_measured), entry.id


def test_the_curves_have_the_paper_s_shape(claims: dict[str, Claim]) -> None:
    assert measured(claims, "f9.best") == 8
    assert measured(claims, "f7.ssh") < measured(claims, "f7.software")
    assert measured(claims, "f6.create") < 100
    assert measured(claims, "t4.create.ssh") < measured(claims, "t4.create.software")


def test_all_targets_are_judged_but_the_one_on_16_pes(claims: dict[str, Claim]) -> None:
    undecided = {target.id for target in PAPER.targets() if claims[target.id].holds is None}
    assert undecided == {"efficiency"}
    for name in ("software-create", "software-join", "create", "join-finished", "mutex-lock", "break-even"):
        assert claims[name].holds, claims[name]


def test_the_report_has_every_experiment(held: Envelope) -> None:
    pytest.importorskip("matplotlib")
    assert len(machine_parts.parts(held, "k")) == 8
