# SPDX-License-Identifier: Apache-2.0
"""Proofs of effect as functions of measurements: which hold, which do not, and their texts."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu import levers
from okosu.levers import pin
from okosu.records.measurement import Measurement, Memory, Process
from okosu.records.types import Proof

ALL = levers.load()
MIB = 1024


def measured(faults: int = 1000, **fields: object) -> Measurement:
    return msgspec.structs.replace(Measurement(wall_ns=10**9, minflt=faults), **fields)


def memory(mib: float, huge_mib: float = 0, hugetlb_mib: float = 0) -> Memory:
    return Memory(int(mib * MIB), int(mib * MIB), int(huge_mib * MIB), hugetlb_kb=int(hugetlb_mib * MIB))


# superpage

BASE = measured(1_050_000, exit=memory(4096), peak=memory(4096))
ON_HUGE = measured(3000, exit=memory(4096, 4060), peak=memory(4096, 4060))


def superpage(run: Measurement, base: Measurement = BASE, pilot: Measurement | None = None) -> Proof:
    return ALL["superpage"].proof("thp", run, base, pilot)


def test_superpage_holds_when_the_table_lies_on_huge_pages() -> None:
    proof = superpage(ON_HUGE)
    assert proof.holds
    assert proof.text == "99 % of 4,096 MiB anonymous on huge pages"
    assert proof.values == {"share": pytest.approx(4060 / 4096), "huge_mib": 4060.0, "faults": 3000.0}


def test_superpage_is_enough_where_hardly_any_memory_is_left() -> None:
    assert ALL["superpage"].enough(superpage(ON_HUGE))
    assert not ALL["superpage"].enough(superpage(measured(3000, exit=memory(4096, 3800), peak=memory(4096, 3800))))
    assert not ALL["retain"].enough(superpage(ON_HUGE))


def test_base_proves_nothing() -> None:
    proof = superpage(BASE)
    assert not proof.holds
    assert "none of its memory" in proof.text


def shared(anon_mib: int, shmem_mib: int, huge_mib: int, anon_huge_mib: int = 0) -> Memory:
    anon, huge = anon_mib * MIB, anon_huge_mib * MIB
    return Memory(anon, anon, huge, shmem_kb=shmem_mib * MIB, shmem_huge_kb=huge_mib * MIB)


@pytest.mark.parametrize(
    ("run", "before", "holds", "words"),
    [
        (shared(10, 90, 90), shared(10, 90, 0), True, "90 % of 100 MiB anonymous and shared on huge pages"),
        (shared(10, 90, 1800), shared(10, 90, 0), True, "90 % of 100 MiB"),
        (shared(10, 90, 45), shared(10, 90, 0), False, "less than half"),
        (shared(10, 90, 90), shared(10, 90, 80), True, "80 % in base"),
        (shared(10, 90, 90), shared(10, 90, 89), False, "no more of its shared memory"),
        (shared(96, 4, 4), shared(96, 4, 0), False, "less than half"),
        (shared(96, 4, 4, 96), shared(96, 4, 0, 94), True, "100 % of 100 MiB"),
        (shared(100, 0, 0, 100), shared(100, 0, 0), False, "no more of its shared memory"),
    ],
)
def test_shared_memory_is_proved_by_its_own_huge_pages(run: Memory, before: Memory, holds: bool, words: str) -> None:
    base, mine = measured(exit=before, peak=before), measured(exit=run, peak=run)
    proof = ALL["superpage"].proof("shared", mine, base, None)
    assert proof.holds is holds
    assert words in proof.text
    assert not ALL["superpage"].proof("shared", base, base, None).holds


def test_later_runs_with_shared_memory_resemble_the_pilot() -> None:
    lever, base, pilot = ALL["superpage"], measured(exit=shared(10, 90, 0)), measured(exit=shared(10, 90, 90))
    for huge, holds in ((90, True), (45, True), (44, False), (0, False)):
        assert lever.proof("shared", measured(exit=shared(10, 90, huge)), base, pilot).holds is holds
    # Its memory was freed before the end: faults tell.
    base, pilot = measured(50_000, exit=shared(10, 0, 0)), measured(500, exit=shared(10, 0, 0))
    assert lever.proof("shared", pilot, base, pilot).holds
    assert not lever.proof("shared", base, base, pilot).holds


def test_more_values_are_tried_while_shared_memory_lies_on_small_pages() -> None:
    run = measured(exit=shared(100, 100, 0, 100), peak=shared(100, 100, 0, 100))
    proof = superpage(run)
    assert proof.holds
    assert not ALL["superpage"].enough(proof)


@pytest.mark.parametrize(
    ("huge_mib", "base_huge_mib", "holds"),
    [(60, 0, True), (50, 0, True), (49, 0, False), (1.9, 0, False), (96, 95, False), (96, 90, True), (60, 80, False)],
)
def test_superpage_thresholds_in_the_pilot(huge_mib: float, base_huge_mib: float, holds: bool) -> None:
    run = measured(peak=memory(100, huge_mib), exit=memory(1))
    base = measured(peak=memory(100, base_huge_mib), exit=memory(1))
    assert superpage(run, base).holds is holds


def test_base_with_huge_pages_is_named_as_the_reason() -> None:
    run, base = measured(peak=memory(100, 99)), measured(peak=memory(100, 98))
    assert "base has huge pages already" in superpage(run, base).text


def test_hugetlb_counts_beside_anonymous_memory() -> None:
    proof = superpage(measured(exit=memory(10, 0, 90)))
    assert proof.holds
    assert proof.values["share"] == pytest.approx(0.9)


def test_the_end_counts_where_the_sampler_came_too_late() -> None:
    assert superpage(measured(peak=memory(0), exit=memory(100, 99))).holds
    assert superpage(measured(peak=None, exit=memory(100, 99))).holds


def test_the_librarys_reason_is_told() -> None:
    line = {"reasons": {"the budget of advised bytes is spent": 9, "an mmap could not be aligned to 2 MiB": 1}}
    proof = superpage(measured(exit=memory(100), preload=[line]))
    assert "the budget of advised bytes is spent" in proof.text


def test_an_inherited_prohibition_is_told() -> None:
    process = Process(1, "x", thp_enabled=0)
    assert "PR_SET_THP_DISABLE" in superpage(measured(exit=memory(100), procs=[process])).text


@pytest.mark.parametrize(("huge_mib", "holds"), [(4060, True), (2030, True), (2029, False), (0, False)])
def test_a_timed_run_keeps_half_of_the_pilots_huge_pages(huge_mib: float, holds: bool) -> None:
    run = measured(3000, exit=memory(4096, huge_mib))
    assert superpage(run, pilot=ON_HUGE).holds is holds


FREED_PILOT = measured(4000, exit=memory(1), peak=memory(512, 510))
FREED_BASE = measured(400_000, exit=memory(1), peak=memory(512))


@pytest.mark.parametrize(("faults", "holds"), [(4000, True), (39_999, True), (40_001, False), (400_000, False)])
def test_freed_memory_is_judged_by_the_nearer_fault_count(faults: int, holds: bool) -> None:
    run = measured(faults, exit=memory(1))
    assert superpage(run, FREED_BASE, FREED_PILOT).holds is holds


def test_an_untraced_run_is_judged_by_its_faults() -> None:
    run = measured(3100, traced=False)
    assert superpage(run, pilot=ON_HUGE).holds
    assert not superpage(measured(1_000_000, traced=False), pilot=ON_HUGE).holds


MEMORIES = st.builds(Memory, *[st.integers(0, 1 << 34)] * 4)
MEASUREMENTS = st.builds(
    measured,
    st.integers(0, 1 << 40),
    exit=MEMORIES,
    peak=st.none() | MEMORIES,
    traced=st.booleans(),
)


@given(MEASUREMENTS, MEASUREMENTS, st.none() | MEASUREMENTS, st.sampled_from(["superpage", "retain", "numa"]))
def test_a_proof_can_always_be_read_and_stored(
    run: Measurement, base: Measurement, pilot: Measurement | None, name: str
) -> None:
    value = {"superpage": "thp", "retain": "on", "numa": "interleave"}[name]
    proof = ALL[name].proof(value, run, base, pilot)
    assert proof.text
    assert msgspec.json.decode(msgspec.json.encode(proof), type=Proof) == proof
    assert 0 <= proof.values.get("share", 0) <= 1


@given(MEASUREMENTS, st.sampled_from(["superpage", "retain"]))
def test_base_never_proves_a_lever(base: Measurement, name: str) -> None:
    assert not ALL[name].proof("on", base, base, None).holds


@given(MEASUREMENTS, MEASUREMENTS)
def test_a_pilot_that_proves_itself_is_proved_by_an_equal_run(run: Measurement, base: Measurement) -> None:
    for name in ("superpage", "retain"):
        lever = ALL[name]
        if lever.proof("on", run, base, None).holds:
            assert lever.proof("on", run, base, run).holds


# retain


@pytest.mark.parametrize(
    ("faults", "base_faults", "holds"),
    [(27_000, 181_000, True), (90_000, 100_000, True), (90_001, 100_000, False), (100, 600, False), (80, 592, True)],
)
def test_retain_in_the_pilot(faults: int, base_faults: int, holds: bool) -> None:
    proof = ALL["retain"].proof("on", measured(faults), measured(base_faults), None)
    assert proof.holds is holds
    assert holds or "hands no large blocks back" in proof.text


@pytest.mark.parametrize(("faults", "holds"), [(27_000, True), (69_000, True), (71_000, False), (181_000, False)])
def test_retain_in_timed_runs(faults: int, holds: bool) -> None:
    proof = ALL["retain"].proof("on", measured(faults), measured(181_000), measured(27_000))
    assert proof.holds is holds
    assert f"{faults:,} page faults instead of 181,000" in proof.text


# pin


@pytest.fixture(autouse=True)
def four_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pin, "order", lambda value, _root: {"compact": (0, 2, 1, 3), "list:1": (1,)}.get(value, ()))


def threads(masks: list[str], used: list[int], pins: str = "") -> Measurement:
    process = Process(1, "app", cpus_allowed=masks[0], cpus_used=used, thread_masks=masks)
    return measured(procs=[process], preload=[{"comm": "app", "pins": pins}])


FREE = threads(["0-7"], [0, 5])


@pytest.mark.parametrize(
    ("run", "holds", "words"),
    [
        (threads(["0", "2"], [0, 2], "0,2"), True, "CPUs 0,2 of 0-3; 2 of 2 distinct masks hold one CPU"),
        (threads(["0", "2"], [0, 2], "2,0"), True, "of 0-3"),
        (threads(["0-3"], [0, 1], ""), True, "0 of 1"),
        (threads(["0", "1"], [0, 1], "0,1"), False, "pinned its threads to CPUs [0, 1], not [0, 2]"),
        (threads(["0", "2"], [0, 2], "0,0"), False, "not [0, 2]"),
        (threads(["0", "2"], [0, 2, 1, 3], "0,2,1,3,0,2,1,3,0"), True, "of 0-3"),
        (threads(["0-7"], [0, 2], ""), False, "CPUs 4-7, outside 0-3"),
        (threads(["0"], [0, 6], "0"), False, "CPUs 6, outside 0-3"),
        (measured(traced=False, why_untraced="ptrace is refused"), False, "ptrace is refused"),
    ],
)
def test_pin(run: Measurement, holds: bool, words: str) -> None:
    proof = ALL["pin"].proof("compact", run, FREE, None)
    assert proof.holds is holds, proof.text
    assert words in proof.text


def test_masks_that_are_bases_prove_nothing() -> None:
    base = threads(["0-3"], [0, 1])
    assert not ALL["pin"].proof("compact", threads(["0-3"], [0, 1]), base, None).holds
    assert "those without the lever" in ALL["pin"].proof("compact", base, base, None).text


def test_a_value_without_cpus_proves_nothing() -> None:
    assert not ALL["pin"].proof("nonsense", threads(["0"], [0]), FREE, None).holds


def test_more_threads_than_the_library_names_are_judged_by_their_masks() -> None:
    run = threads(["1"], [1], ",".join(["1"] * 64))
    assert ALL["pin"].proof("list:1", run, FREE, None).holds


# numa


def placed(pages: dict[str, int], *policies: str) -> Measurement:
    return measured(procs=[Process(1, "app", numa=pages, policies=list(policies))])


@pytest.mark.parametrize(
    ("value", "run", "holds", "words"),
    [
        ("interleave", placed({"0": 5000, "1": 5000}, "interleave:0-1"), True, "50 % on node 0, 50 % on node 1"),
        ("interleave", placed({"0": 9900, "1": 100}, "interleave:0-1"), False, "not spread"),
        ("interleave", placed({"0": 10_000}, "interleave:0-1"), False, "not spread"),
        ("interleave", placed({"0": 30}, "interleave:0-1"), True, "100 % on node 0"),
        ("interleave", placed({"0": 5000, "1": 5000}, "default"), False, "was set_mempolicy refused?"),
        ("interleave", placed({"0": 5000, "1": 5000}, "weighted interleave:0-1"), False, "refused?"),
        ("bind:1", placed({"1": 5000}, "bind:1", "default"), True, "100 % on node 1"),
        ("bind:1", placed({"0": 2500, "1": 2500}, "bind:1"), False, "too much lies elsewhere"),
        ("bind:0-1", placed({"0": 2500, "1": 2500}, "bind:0-1"), True, "50 %"),
        ("preferred:0", placed({"1": 5000}, "prefer:0"), True, "100 % on node 1"),
        ("local", placed({"0": 5000}, "local"), True, "policy local"),
        ("local", placed({"0": 5000}, "default"), False, "refused?"),
        ("local", measured(traced=False, why_untraced="ptrace is refused"), False, "ptrace is refused"),
    ],
)
def test_numa(value: str, run: Measurement, holds: bool, words: str) -> None:
    proof = ALL["numa"].proof(value, run, placed({"0": 5000}, "default"), None)
    assert proof.holds is holds, proof.text
    assert words in proof.text
