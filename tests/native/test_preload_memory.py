# SPDX-License-Identifier: Apache-2.0
"""Guarantees of malloc and mmap that programs rely on, in every mode of the preload library."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from effort import some
from preload_tool import (
    HUGETLB,
    MIB,
    MODES,
    RETAIN,
    SHARED,
    SMALL,
    THP,
    huge_pages_now,
    passed,
    run,
    shared_setting,
    thp_possible,
)

pytestmark = pytest.mark.preloads

PR_SET_THP_DISABLE = 41
SHARED_ON = shared_setting() not in ("never", "deny")

needs_thp = pytest.mark.skipif(not thp_possible(), reason="transparent_hugepage/enabled is never")
every_mode = pytest.mark.parametrize("levers", MODES.values(), ids=MODES.keys())


@every_mode
def test_blocks_keep_their_contents(levers: dict[str, str]) -> None:
    ran = passed(run("torture", "3", "500", levers=levers))
    if levers:
        assert ran.evidence[-1]["blocks"] > 50


@every_mode
def test_results_and_errno(levers: dict[str, str]) -> None:
    lines_used = int(passed(run("contract", levers=levers)).stdout)
    if levers:
        assert lines_used == 16, "equal-sized blocks begin at the same cache lines"


@every_mode
def test_calloc_is_zero_after_reuse(levers: dict[str, str]) -> None:
    ran = passed(run("calloc", levers=levers))
    if "OKOSU_RETAIN" in levers:
        assert ran.evidence[-1]["retained_hits"] > 20


@every_mode
def test_realloc_grows_moves_and_shrinks(levers: dict[str, str]) -> None:
    passed(run("growing", levers=levers))


@every_mode
def test_mmap_semantics(levers: dict[str, str]) -> None:
    ran = passed(run("mappings", levers=levers))
    if levers:
        assert int(ran.stdout) == 50, "not every mapping was aligned"


@pytest.mark.parametrize("levers", [SMALL, SMALL | {"OKOSU_BUDGET": str(10 * MIB)}, THP, {}])
def test_small_mappings_are_their_own(levers: dict[str, str]) -> None:
    ran = passed(run("small-mappings", levers=levers))
    if levers == SMALL and thp_possible():
        assert ran.evidence[-1]["mmaps"] >= 140


@every_mode
def test_shared_memory_is_as_mmap_has_it(levers: dict[str, str]) -> None:
    passed(run("shared-mappings", levers=levers))


def test_shared_memory_is_advised_as_a_whole_or_not_at_all() -> None:
    whole = passed(run("shared-huge", "16", levers=SHARED)).evidence[-1]
    part = passed(run("shared-huge", "16", levers=SHARED | {"OKOSU_BUDGET": str(20 * MIB)})).evidence[-1]
    other = passed(run("shared-huge", "16", levers=SMALL)).evidence[-1]
    assert other["advised_bytes_total"] == 0
    if not thp_possible():
        assert (whole["advised_bytes_total"], part["advised_bytes_total"]) == (0, 0)
    elif SHARED_ON:
        assert (whole["advised_bytes_peak"], part["advised_bytes_peak"]) == (48 * MIB, 16 * MIB)
        assert any("taken for a reservation" in reason for reason in part["reasons"])
    else:
        # Without huge pages for shared memory the kernel does not align it.
        assert whole["advised_bytes_peak"] in (0, 16 * MIB, 32 * MIB, 48 * MIB)


@needs_thp
@pytest.mark.skipif(not SHARED_ON, reason="shmem_enabled is off")
def test_shared_memory_is_on_huge_pages() -> None:
    if not huge_pages_now(96):
        pytest.skip("the kernel has no huge pages for 96 MiB")
    assert int(passed(run("shared-huge", "32", levers=SHARED)).stdout) == 96 << 10
    if shared_setting() == "advise":
        assert int(passed(run("shared-huge", "32", levers=SMALL)).stdout) == 0


@pytest.mark.parametrize("levers", some(MODES.values(), 2))
def test_arenas_of_allocators_and_runtimes(levers: dict[str, str]) -> None:
    passed(run("arenas", levers=levers))


@needs_thp
@pytest.mark.parametrize("name", ["libjemalloc.so.2", "libmimalloc.so.2"])
def test_small_blocks_of_another_allocator_are_on_huge_pages(name: str) -> None:
    library = next(Path("/usr/lib").glob(f"*-linux-gnu/{name}"), None)
    if library is None:
        pytest.skip(f"there is no {name}")
    base = int(passed(run("small-blocks", "60", levers={}, behind=library)).stdout)
    huge = int(passed(run("small-blocks", "60", levers=THP, behind=library)).stdout)
    if huge < 30 * 1024 and not huge_pages_now(60):
        pytest.skip("the kernel has no free huge pages")
    assert huge >= 30 * 1024
    assert base < huge or "[always]" in Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()


def test_address_space_without_a_reserve_is_not_advised() -> None:
    """What is longer than the budget is a table that will never be full: it costs no memory that it cost nobody."""
    ran = passed(run("dense", "arena", "100", levers=THP | {"OKOSU_BUDGET": str(90 * MIB)}))
    evidence = ran.evidence[-1]
    assert (evidence["advised_bytes_total"], evidence["mmaps"]) == (0, 0)
    if thp_possible():
        assert any("taken for a reservation" in reason for reason in evidence["reasons"])


@pytest.mark.parametrize("levers", some([RETAIN, THP, HUGETLB, {}]))
def test_a_small_address_space(levers: dict[str, str]) -> None:
    ran = passed(run("limited", levers=levers))
    if levers:
        reasons = ran.evidence[-1]["reasons"]
        assert any("address space ran out" in reason for reason in reasons), reasons


def test_a_sparse_program_stays_within_the_budget() -> None:
    budget = 32 * MIB
    base = int(passed(run("sparse", "256", preload=False)).stdout)
    ran = passed(run("sparse", "256", levers=THP | {"OKOSU_BUDGET": str(budget)}))
    assert int(ran.stdout) * 1024 <= max(base * 1024, budget) + 8 * MIB
    evidence = ran.evidence[-1]
    assert evidence["advised_bytes_peak"] <= budget
    if thp_possible():
        assert "the budget of advised bytes is spent" in evidence["reasons"]


@needs_thp
@pytest.mark.parametrize("how", ["malloc", "mmap", "arena", "committed"])
def test_a_dense_program_is_on_huge_pages(how: str) -> None:
    ran = passed(run("dense", how, "100", levers=THP))
    resident, huge, after = (int(word) for word in ran.words)
    if any("4 KiB pages" in reason for reason in ran.evidence[-1]["reasons"]):
        pytest.skip("the kernel had no free huge page")
    assert resident >= 100 * 1024
    assert huge >= 95 * 1024
    assert after < 20 * 1024, "memory was not given back"
    assert ran.evidence[-1]["advised_bytes_peak"] >= 98 * MIB


def test_retained_memory_stays_and_is_reused() -> None:
    ran = passed(run("dense", "malloc", "100", levers=RETAIN))
    assert int(ran.words[2]) >= 100 * 1024


def test_no_more_is_advised_than_the_density_allows() -> None:
    # 100 MiB is 50 whole chunks; the part that an offset pushes into the 51st chunk is far below any density.
    ran = passed(run("dense", "malloc", "100", levers=THP | {"OKOSU_DENSITY": "100"}))
    if thp_possible():
        assert ran.evidence[-1]["advised_bytes_peak"] == 100 * MIB


@pytest.mark.parametrize("levers", [{}, THP, SMALL, SHARED])
def test_a_program_that_switches_huge_pages_off_keeps_those_that_it_is_given(levers: dict[str, str]) -> None:
    huge, able = map(int, passed(run("switched-off", "60", levers=levers)).words)
    if not able or not levers or not thp_possible():
        assert huge == 0
    elif huge < 50 * 1024 and not huge_pages_now(60):
        pytest.skip("the kernel has no free huge pages")
    else:
        assert huge >= 50 * 1024


def test_inherited_thp_disable_is_noticed() -> None:
    def disable() -> None:
        assert ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0

    ran = passed(run("dense", "malloc", "20", levers=THP, before=disable))
    evidence = ran.evidence[-1]
    assert evidence["advised_bytes_total"] == 0
    assert any("THP_enabled: 0" in reason for reason in evidence["reasons"])
