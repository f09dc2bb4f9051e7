# SPDX-License-Identifier: Apache-2.0
"""Unusual but legal programs, which glibc runs without fault, under the preload library."""

from __future__ import annotations

import pytest
from preload_tool import HUGETLB, MODES, RETAIN, THP, build, passed, run

every_mode = pytest.mark.parametrize("levers", MODES.values(), ids=MODES.keys())
NO_PROOF = {"OKOSU_PROOF": ""}

HOOKED = ("file", "moved", "moved-away", "none", "unmapped", "no-fork")


@pytest.mark.parametrize("levers", [{}, THP, RETAIN], ids=["placebo", "thp", "retain"])
@pytest.mark.parametrize(
    ("how", "size"), [*((how, size) for how in HOOKED for size in (4, 33)), ("raw", 33), ("raw-none", 33)]
)
def test_what_a_program_does_to_its_block_ends_with_the_block(levers: dict[str, str], how: str, size: int) -> None:
    """Pages of a file, a protection or a hole in a freed block do not come back in the next one."""
    passed(run("foreign", how, size, levers=levers))


def test_blocks_that_were_changed_are_not_kept() -> None:
    for how in ("file", "raw"):
        ran = passed(run("foreign", how, 33, levers=RETAIN))
        reasons = ran.evidence[-1]["reasons"]
        assert any("inside a block" in reason for reason in reasons), reasons
        assert ran.evidence[-1]["retained_hits"] > 0, "the blocks that were not changed are kept"


@every_mode
def test_a_block_with_pages_of_a_file_grows(levers: dict[str, str]) -> None:
    passed(run("foreign-growth", levers=levers))


@every_mode
def test_malloc_is_no_cancellation_point(levers: dict[str, str]) -> None:
    passed(run("cancelled", levers=levers | {"OKOSU_VERBOSE": "1", "OKOSU_BUDGET": "0"}))
    passed(run("cancelled", levers=levers))


def test_exit_is_no_cancellation_point() -> None:
    ran = run("cancelled-exit", levers=THP)
    assert (ran.returncode, len(ran.evidence)) == (3, 1)


@every_mode
def test_no_system_call_at_the_end_unless_a_proof_is_asked_for(levers: dict[str, str]) -> None:
    passed(run("strict", preload=False))
    passed(run("strict", levers=levers | NO_PROOF))
    passed(run("strict", levers=levers | NO_PROOF | {"OKOSU_ROOT_PID": "1"}))


@every_mode
def test_exit_on_a_small_signal_stack(levers: dict[str, str]) -> None:
    ran = run("small-stack", levers=levers)
    assert (ran.returncode, len(ran.evidence)) == (3, 1)


@pytest.mark.parametrize("levers", [{}, THP, RETAIN, HUGETLB])
def test_a_fork_handler_that_waits_for_a_thread_that_allocates(levers: dict[str, str]) -> None:
    passed(
        run("library", "fork_order", levers=levers, behind=build("fork_order.so", "-shared", "-fPIC", "fork_order.c"))
    )
