# SPDX-License-Identifier: Apache-2.0
"""The kernel's table of copies is read as it was printed; without a measurement there is no number."""

from __future__ import annotations

from papers.simd_kernel.run import break_even
from papers.simd_kernel.run.break_even import Cost

MEASURED = """\
[    0.412345] simd_copy: ticks a call; with FPU state: alone/saved before/saved and restored
[    0.412346] simd_copy: bench 64 kernel=21 movsq=30 avx2=12/40/310
[    0.412347] simd_copy: bench 4096 kernel=180 movsq=95 avx2=90/121/402
[    0.412348] simd_copy: break-even movsq: 4096 bytes
[    0.412349] simd_copy: break-even avx2: never
[    0.412350] simd_copy: off: auto is not known, not valid here, or never pays
"""
EMULATED = "[    0.4] simd_copy: break-even: not measured under emulation\n"
A_THREAD = "[    0.4] simd_copy: break-even: not measured: a kernel thread has no registers to save\n"


def test_the_log_reads_back() -> None:
    found = break_even.parse(MEASURED)
    assert found.costs[1] == Cost("movsq", 64, 30, 30, 30)
    assert found.costs[5] == Cost("avx2", 4096, 90, 121, 402)
    assert len(found.costs) == 6
    assert found.smallest == {"movsq": 4096, "avx2": None}
    assert found.unmeasured is None


def test_the_table_shows_sizes_routines_and_losses() -> None:
    lines = break_even.table(break_even.parse(MEASURED))
    assert lines[0].split() == ["bytes", "kernel", "movsq", "avx2"]
    assert lines[2].split() == ["4096", "180", "95", "90/121/402"]
    assert lines[3:] == ["movsq: wins from 4096 bytes", "avx2: wins at no size"]


def test_an_emulated_machine_claims_nothing() -> None:
    found = break_even.parse(EMULATED)
    assert (found.costs, found.smallest) == ((), {})
    assert break_even.table(found) == ["break-even: not measured under TCG"]


def test_what_a_kernel_gives_as_its_reason_is_handed_on() -> None:
    assert break_even.parse(A_THREAD).unmeasured == "not measured: a kernel thread has no registers to save"


def test_a_kernel_without_the_series_is_no_measurement() -> None:
    found = break_even.parse("[    0.1] Linux version 6.12\n")
    assert break_even.table(found) == ["break-even: not measured: this kernel's log does not speak of it"]
