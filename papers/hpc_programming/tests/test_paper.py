# SPDX-License-Identifier: Apache-2.0
"""The HA8000 tutorial beside planted measurements: every entry is compared or excused, and the prose says what was
measured."""

from __future__ import annotations

import re
from typing import Any

import pytest

from okosu.bench.rows import Result, Row
from papers import common
from papers.common.base import Measured, Ours, Said
from papers.common.tests.rows import result, row

PAPER = common.load()["hpc-programming"]


def latency(o1: float = 20.0) -> Result:
    """Return a core with additions of 2 and multiplications of 3 cycles."""
    rows: list[Row] = []
    for name, cost, per_option in (
        ("add", 2.0, {"O0": 80.0, "O1": o1, "O2": 20.0, "O3": 20.0}),
        ("mul", 3.0, {"O0": 90.0, "O1": 1.5 * o1, "O2": 30.0, "O3": 30.0}),
    ):
        rows.append(row("latency", name, "okosu", [1600 * cost] * 5, n=1, items=1600, bytes_per_item=0.0))
        for option, each in per_option.items():
            rows.append(
                row(f"ten-{name}", f"gcc-{option}", "paper", [16 * each] * 5, n=10, items=16, bytes_per_item=0.0)
            )
    return result("latency", rows)


def blas1() -> Result:
    """Return routines of which okosu's own are at their limits: 16 elements a cycle, 8 of dot and axpy."""
    rows: list[Row] = []
    routines: dict[str, tuple[float, float, dict[str, float], float, str]] = {
        "dsum": (8, 1, {"paper-plain": 0.5, "paper-sse2-1": 1.0, "paper-sse2-4": 4.0}, 16.0, "limit-load"),
        "dsumsq": (8, 2, {"paper-plain": 0.5, "paper-sse2-1": 1.0, "paper-sse2-4": 4.0}, 16.0, "limit-load"),
        "ddot": (16, 2, {"paper-plain": 0.5, "paper-sse2-4": 2.0}, 8.0, "limit-load2"),
        "daxpy": (
            24,
            2,
            {"paper-plain": 2.0, "paper-plain-scalar": 1.0, "paper-sse2-1": 1.8},
            8.0,
            "limit-load2-store1",
        ),
    }
    for routine, (size, flops, paper, own, limit) in routines.items():
        for n, place in ((1024, "L1"), (2048, "L1"), (1 << 20, "L3")):
            at: dict[str, Any] = {"n": n, "place": place, "footprint": n * int(size), "bytes_per_item": float(size)}
            rates = {**paper, "chosen": own}
            for variant, rate in rates.items():
                kind = "okosu" if variant == "chosen" else "paper"
                # The smaller size is slower, so that taking the wrong one shows.
                cost = n / rate * (2 if n == 1024 else 1)
                rows.append(row(routine, variant, kind, [cost] * 5, flops_per_item=float(flops), **at))
            rows.append(row(limit, "avx512", "limit", [n / own] * 5, flops_per_item=0.0, **at))
            zero = {**at, "bytes_per_item": 0.0}
            rows.append(row("limit-fma", "avx512", "limit", [n / 16] * 5, flops_per_item=2.0, **zero))
            rows.append(row("limit-add", "avx512", "limit", [n / 16] * 5, flops_per_item=1.0, **zero))
    return result("blas1", rows)


def listings() -> dict[str, Said]:
    table = [{"table": 1, "name": f"a{i}", "holds": True} for i in range(20)]
    table += [{"table": 2, "name": f"b{i}", "holds": i != 3} for i in range(5)]
    return {
        "ticks": Said(0, (), "a=0\nCPU Clock=119000 /N=11.9\na=0\nCPU Clock=178000 /N=17.8\n"),
        "affinity": Said(0, ({"cpu": 10, "rv": -1, "errno": 22, "allowed": 2, "on": 1},)),
        "affinity-on-0": Said(0, ({"cpu": 0, "rv": 0, "errno": 0, "allowed": 1, "on": 0},)),
        "nprocs": Said(0, (), "The number of CPUs = 2\n"),
        "bind": Said(
            0,
            (
                {
                    "rv": 0, "errno": 0, "page": 4096, "aligned": 1, "pages": 245, "elsewhere": 0,
                    "maxnode_1": 22, "maxnode_2": 0, "unaligned": 22,
                },
            ),
        ),
        "intrinsics": Said(1, tuple(table)),
    }  # fmt: skip


MACHINE = {
    "id": "m",
    "cpus_online": [0, 1],
    "cpus": [{"number": 0, "package": 0, "node": 0}, {"number": 1, "package": 0, "node": 0}],
    "nodes": [{"number": 0, "cpus": [0, 1]}],
    "caches": [{"level": 1, "type": "Data", "size": 49152}],
}


def numa(nodes: int = 1) -> Result:
    rows = []
    for cpu in (0, 1):
        for node in range(nodes):
            for which, mib in (("first", 500.0), ("second", 4000.0 if cpu == node else 2000.0)):
                ns = 1e9 * 1000 / mib
                at = {"n": 1048576000, "unit": "ns", "mode": which, "extra": {"cpu": cpu, "node": node}}
                rows.append(row("write", f"cpu{cpu}-node{node}", "paper", [ns] * 3, bytes_per_item=1.0, **at))
    return result("numa", rows)


def compared(**changed: Any) -> dict[str, Ours]:
    rows = {"latency": latency(), "blas1": blas1(), "numa": numa()}
    machine = changed.pop("machine", MACHINE)
    return PAPER.compare(Measured(rows={**rows, **changed}, said=listings(), machine=machine))


def test_every_entry_has_ours_or_an_excuse_and_never_both() -> None:
    found = compared()
    for entry in PAPER.published():
        assert (entry.id in found) != bool(entry.not_measured), entry.id
    assert found.keys() <= {entry.id for entry in PAPER.published()}


def test_every_comparison_has_one_line_of_prose() -> None:
    for name, ours in compared().items():
        assert ours.why, name
        assert "\n" not in ours.why, name
        assert "None" not in ours.why, name


def test_nothing_measured_gives_nothing_and_no_error() -> None:
    found = PAPER.compare(Measured())
    assert not found


def test_rates_come_from_the_largest_arrays_in_l1_at_the_core_clock() -> None:
    found = compared()
    assert found["5.2.hz"].value == pytest.approx(4.25)
    assert found["5.3.plain"].value == pytest.approx(0.5 * 4.25)
    assert found["5.4.sse4"].value == pytest.approx(2 * 4.0 * 4.25)
    assert found["5.6.sse"].value == pytest.approx(2 * 1.8 * 4.25)


def test_shares_are_of_the_peak_in_the_papers_sense_and_say_what_the_caches_allow() -> None:
    found = compared()
    assert found["5.3.sse4.share"].value == pytest.approx(100 * 4 / 16)
    assert found["5.5.sse4.share"].value == pytest.approx(100 * 2 * 2 / 32)
    assert "loads and stores allow 50 %" in found["5.5.sse4.share"].why
    assert "allow" not in found["5.3.sse4.share"].why
    assert "okosu's own 50 %" in found["5.5.sse4.share"].why


def test_gains_and_ratios_are_those_of_the_rates() -> None:
    found = compared()
    assert found["5.3.sse1.gain"].value == pytest.approx(2)
    assert found["5.4.sse4.gain"].value == pytest.approx(8)
    assert found["5.5.over-sumsq"].value == pytest.approx(2)
    assert found["5.5.over-sumsq.memory"].value == pytest.approx(2)
    assert found["5.3.plain.cycles"].value == pytest.approx(2)
    assert found["5.4.plain.cycles"].value == pytest.approx(2)
    assert found["5.3.registers.k10"].value == 4


def test_ten_operations_say_what_they_wait_for_only_where_the_numbers_bear_it_out() -> None:
    found = compared()
    assert found["2.gcc-O2.add"].value == pytest.approx(20)
    assert "ten times the latency" in found["2.gcc-O2.add"].why
    assert "2.0 cycles here, 4 there" in found["2.gcc-O2.add"].why
    assert "the listing prints 11.9" in found["2.gcc-O2.add"].why
    assert "the listing prints 17.8" in found["2.gcc-O2.mul"].why
    assert "8.0 cycles each" in found["2.gcc-O0.add"].why
    assert "through memory" in found["2.gcc-O0.add"].why
    assert "ten times the latency" in found["2.gcc-O1.add"].why
    assert "through memory" in compared(latency=latency(o1=40.0))["2.gcc-O1.add"].why
    assert found["2.gcc-O1.same"].value == pytest.approx(0.25)


def test_the_plain_daxpy_says_what_the_compiler_made_of_it() -> None:
    assert "without that it is 8.50 GFlops" in compared()["5.6.plain"].why
    without = result("blas1", [r for r in blas1().rows if r.variant != "paper-plain-scalar"])
    assert "without that" not in compared(blas1=without)["5.6.plain"].why


def test_a_cause_is_named_only_where_the_numbers_bear_it_out() -> None:
    found = compared()
    # One sum and additions of 2 cycles: 0.5 elements a cycle; four accumulators: as much as 128 bits of 512 can.
    assert "each addition is waited for (2.0 cycles, there 4)" in found["5.3.plain"].why
    assert "each addition is waited for" in found["5.3.sse1"].why
    assert "the most that additions of 128 bits can give here, of 512" in found["5.3.sse4"].why
    assert "not bound by the latency" in found["5.5.sse4"].why
    slow = compared(blas1=result("blas1", [_slower(r) for r in blas1().rows]))
    assert "waited for" not in slow["5.3.plain"].why
    assert "latency" not in found["5.6.plain"].why


def test_listings_are_read() -> None:
    found = compared()
    assert (found["3.cpus"].value, found["3.pinned"].value, found["3.cpu-10"].value) == (2, 1, -1)
    assert "no CPU 10" in found["3.cpu-10"].why
    assert (found["4.bind"].value, found["4.unaligned"].value, found["4.maxnode"].value) == (0, 1, 7)
    assert (found["5.1.table1"].value, found["5.1.table2"].value) == (20, 4)
    assert "b3" in found["5.1.table2"].why


def test_writes_are_in_mib_a_second_and_near_and_far_by_the_machines_nodes() -> None:
    found = compared()
    assert found["4.cpu4.first"].value == pytest.approx(500)
    assert "the only node" in found["4.cpu0.second"].why
    two = {**MACHINE, "cpus": [{"number": 0, "node": 0}, {"number": 1, "node": 1}], "nodes": [{}, {}]}
    two["nodes"] = [{"number": 0}, {"number": 1}]
    far = compared(numa=numa(2), machine=two)
    assert far["4.cpu4.second"].value == pytest.approx(4000)
    assert far["4.cpu8.second"].value == pytest.approx(2000)
    assert far["4.ratio.far"].value == pytest.approx(2)
    assert all(ours.why for name, ours in far.items() if name.startswith("4."))


def test_prose_holds_no_number_that_is_neither_measured_nor_published() -> None:
    """The same prose about a machine with other numbers holds none of the first one's."""
    slow = result("blas1", [_slower(r) for r in blas1().rows])
    assert slow.header is not None
    first, second = compared(), compared(blas1=slow)
    pattern = re.compile(r"\d+\.\d\d+")
    for name in ("5.3.plain", "5.4.sse4", "5.5.sse4", "5.6.sse"):
        published = {"4.25", *pattern.findall(f"{first[name].why.partition('there')[2].partition(';')[0]}")}
        assert not (set(pattern.findall(first[name].why)) & set(pattern.findall(second[name].why))) - published, name


def _slower(one: Row) -> Row:
    import msgspec

    return msgspec.structs.replace(one, samples=[1.37 * sample for sample in one.samples])
