# SPDX-License-Identifier: Apache-2.0
"""The series um-simd at work under UML: its choice at boot and later, its tests, its measurements: make test-lab."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.run import uml
from lab.tests.long.base import BASE

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

ROUTINES = ("orig", "movsq", "movsb", "paper", "sse2", "avx2", "avx512")
SYSFS = "/sys/kernel/um_copy"
CASES = 5
BENCH = "/sys/kernel/debug/um_copy/bench"


@pytest.fixture(scope="module")
def built() -> Built:
    return uml.build(base=BASE)


def here() -> list[str]:
    """Return the routines that this machine runs."""
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    assert flags
    needs = {"avx2": {"avx2"}, "avx512": {"avx512f", "avx512vl"}}
    return [name for name in ROUTINES if needs.get(name, set()) <= set(flags[1].split())]


def shell(built: Built, script: str, *kernel_args: str) -> tuple[str, str]:
    """Run `script` in a guest; return its output and the kernel's messages."""
    mounts = "mount -t debugfs none /sys/kernel/debug 2>/dev/null;"
    outcome = uml.run(built, ["sh", "-c", mounts + script], kernel_args=kernel_args, timeout=1800.0)
    assert outcome.status == 0, outcome.log[-2000:]
    return outcome.stdout.decode(), outcome.log


def test_the_boot_measures_each_routine_and_chooses_one(built: Built) -> None:
    out, log = shell(built, f"cat {SYSFS}/available {SYSFS}/choice")
    lines = re.findall(r"um_copy: +(\w+) *: copy 512 B +([\d.]+), 4 KiB +([\d.]+), set 4 KiB +([\d.]+) ticks", log)
    assert [line[0] for line in lines] == here()
    assert all(float(number) > 0 for line in lines for number in line[1:])
    chosen = re.search(r"um_copy: using (\w+)$", log, re.M)
    assert chosen
    assert chosen[1] != "orig"
    assert out.split() == [*(f"[{name}]" if name == chosen[1] else name for name in here()), chosen[1]]


def test_the_command_line_chooses(built: Built) -> None:
    out, log = shell(built, f"cat {SYSFS}/choice", "um_copy=movsq")
    assert out == "movsq\n"
    assert "um_copy: using movsq, as asked for" in log
    assert "measuring" not in log
    out, log = shell(built, f"cat {SYSFS}/choice", "um_copy=nonsense")
    assert "um_copy: no routine 'nonsense' here: measuring" in log
    assert out.strip() in here()


def test_the_word_without_a_name_is_said_to_be_wrong_and_no_more(built: Built) -> None:
    out, log = shell(built, f"cat {SYSFS}/choice", "um_copy")
    assert "Malformed early option 'um_copy'" in log
    assert "um_copy: measuring" in log
    assert out.strip() in here()


def test_the_choice_changes_at_run_time(built: Built) -> None:
    switch = f"for name in {' '.join(here())}; do echo $name >{SYSFS}/choice; cat {SYSFS}/choice; done"
    out, _ = shell(built, f"{switch}; echo nonsense >{SYSFS}/choice 2>/dev/null || echo refused; cat {SYSFS}/choice")
    assert out.split() == [*here(), "refused", here()[-1]]


def test_measurements_on_demand(built: Built) -> None:
    for name in ("bench", "bench_set"):
        out, _ = shell(built, f"cd {Path(BENCH).parent}; echo 3 20 64 96 16 >{name}; cat {name}")
        lines = [line.split() for line in out.splitlines()]
        names = ["empty", *here()]
        expected = {(name, size, turn) for name in names for size in ("64", "80", "96") for turn in "012"}
        assert {(line[0], line[1], line[2]) for line in lines} == expected
        assert len(lines) == len(expected)
        assert all(int(line[3]) > 0 and line[4] == "20" for line in lines)
        # In each round the measurement begins with another routine.
        starts = [lines[len(names) * turn][0] for turn in range(3)]
        assert starts == names[:3]
    for wrong in ("0 1 1 1 1", "1 1 2 1 1", "1 1 1 1 0", "1 1 1 65537 1", "1 1 1", "x"):
        out, _ = shell(built, f"echo {wrong} >{BENCH} 2>/dev/null || echo refused")
        assert out == "refused\n", wrong


def results(log: str) -> tuple[int, int, int]:
    """Return what KUnit says passed, failed and was skipped in all."""
    total = re.findall(r"# Totals: pass:(\d+) fail:(\d+) skip:(\d+)", log)
    assert total, log[-2000:]
    passed, failed, skipped = (sum(int(line[i]) for line in total) for i in range(3))
    return passed, failed, skipped


def test_every_routine_passes_its_own_tests(built: Built) -> None:
    _, log = shell(built, "true", "kunit.enable=1", "kunit.filter_glob=um_copy")
    assert results(log) == (CASES * len(here()), 0, CASES * (len(ROUTINES) - len(here())))


def test_the_routines_for_fixed_lengths_pass_them_too() -> None:
    fixed = uml.build(fragments=(*uml.RECIPE.fragments, "um-fixed"), base=BASE)
    _, log = shell(fixed, "true", "kunit.enable=1", "kunit.filter_glob=um_copy")
    assert results(log) == (CASES * len(here()), 0, CASES * (len(ROUTINES) - len(here())))
    names = (fixed.path / "System.map").read_text().split()
    assert {f"um_copy_{size}_{name}" for name in ROUTINES for size in (512, 4096)} <= set(names)


@pytest.mark.parametrize("name", ROUTINES)
def test_every_routine_passes_the_kernels_memcpy_and_memset_tests(built: Built, name: str) -> None:
    if name not in here():
        pytest.skip("not on this machine")
    _, log = shell(built, "true", f"um_copy={name}", "kunit.enable=1", "kunit.filter_glob=memcpy.mem[cs]*")
    assert f"um_copy: using {name}, as asked for" in log
    assert results(log) == (3, 0, 0)
