# SPDX-License-Identifier: Apache-2.0
"""The series x86-simd-copy in an emulated machine: results are checked, times mean nothing there: make test-lab."""

from __future__ import annotations

import os
import re

import pytest

from lab.kernel.build import Built
from lab.run import guest, qemu
from lab.run.outcome import Outcome
from lab.tests.long import x86_guest
from papers.simd_kernel.run import break_even

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

TIMEOUT_S = 1800.0
# The routines that QEMU 7.2 can run; its processors have no AVX-512.
VALID = ("kernel", "movsq", "movsb", "movnti", "paper", "sse2", "avx2")
ABSENT = ("avx512",)
TESTS = ("sizes", "page_ends", "long", "user_registers", "nested", "interrupt")

ROUNDS = 3
PAGES_A_ROUND = 2 * 64


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.fixture(scope="module")
def tested(built: Built) -> str:
    return qemu.run(built, ["true"], kernel_args=(x86_guest.KUNIT,), timeout=TIMEOUT_S, cpus=2).log


def results(log: str, test: str) -> dict[str, str]:
    """Return {parameter: "ok", "not ok" or "skip"} of one parameterised KUnit test."""
    part = re.search(rf"# Subtest: simd_copy_{test}\n(.*?)# simd_copy_{test}: pass", log, re.S)
    assert part, log[-6000:]
    found = re.findall(r"\b(ok|not ok) \d+ (\w+)( # SKIP)?", part[1])
    return {name: "skip" if skipped else verdict for verdict, name, skipped in found}


@pytest.mark.parametrize("test", TESTS)
def test_the_series_own_tests_pass_for_every_routine(tested: str, test: str) -> None:
    found = results(tested, test)
    assert found == dict.fromkeys(VALID, "ok") | dict.fromkeys(ABSENT, "skip")


def test_the_kernel_s_own_memcpy_tests_pass(tested: str) -> None:
    assert re.search(r"^\S* *\S* ok \d+ memcpy$", tested, re.M) or re.search(r"\bok \d+ memcpy\b", tested)
    assert "not ok" not in tested


def registers(built: Built, *kernel_args: str) -> tuple[Outcome, dict[str, str]]:
    """Run the register check on one CPU, and return what the kernel says of its copies."""
    program = guest.program("check_registers")
    script = '"$0" "$1" && cat /sys/kernel/debug/x86/simd_copy'
    command = ["sh", "-c", script, str(program), str(ROUNDS)]
    outcome = qemu.run(built, command, kernel_args=kernel_args, timeout=TIMEOUT_S)
    assert outcome.status == 0, outcome.console
    said = outcome.stdout.decode().splitlines()
    assert said[0] == f"ok {ROUNDS} {ROUNDS * PAGES_A_ROUND}"
    return outcome, dict(line.split() for line in said[1:])


@pytest.mark.parametrize("name", ["movnti", "paper", "sse2", "avx2"])
def test_programs_keep_their_registers_while_the_kernel_copies_their_pages(built: Built, name: str) -> None:
    _, state = registers(built, f"simd_copy={name}")
    assert (state["choice"], state["from"], state["declined"]) == (name, "4096", "0")
    # The kernel copied at least every page that the program made it copy.
    assert int(state["served"]) >= ROUNDS * PAGES_A_ROUND


def test_it_is_off_unless_asked_for(built: Built) -> None:
    outcome, state = registers(built)
    assert (state["choice"], state["served"]) == ("off", "0")
    assert "simd_copy:" not in outcome.log


@pytest.mark.parametrize("asked", ["auto", "avx512", "nonsense"])
def test_nothing_is_used_that_was_not_measured_or_is_not_there(built: Built, asked: str) -> None:
    outcome, state = registers(built, f"simd_copy={asked}")
    assert (state["choice"], state["served"]) == ("off", "0")
    assert "simd_copy: break-even: not measured under emulation" in outcome.log
    assert "bench" not in outcome.log


def test_a_smallest_size_above_a_page_leaves_page_copies_alone(built: Built) -> None:
    _, state = registers(built, "simd_copy=avx2", "simd_copy_min=8K")
    assert (state["choice"], state["from"], state["served"]) == ("avx2", "8192", "0")


def test_the_measurement_itself_runs_where_the_machine_does_not_say_that_it_is_emulated(
    built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The costs themselves mean nothing here; there must be one for each routine and size, and no warning of the kernel.
    monkeypatch.setattr(qemu, "CPU", f"{qemu.CPU},-hypervisor")
    outcome = qemu.run(built, ["true"], kernel_args=("simd_copy=auto",), timeout=TIMEOUT_S)
    found = break_even.parse(outcome.log)
    assert found.unmeasured is None
    assert {(cost.size, cost.name) for cost in found.costs} == {
        (64 << n, name) for n in range(11) for name in VALID
    } - {(32768, name) for name in VALID}
    assert set(found.smallest) == set(VALID) - {"kernel"}
    assert all(cost.alone > 0 for cost in found.costs)
    assert "WARNING" not in outcome.log


def test_the_command_says_that_an_emulated_machine_measures_nothing(built: Built) -> None:
    found = break_even.boot(built)
    assert break_even.table(found) == ["break-even: not measured under TCG"]
