# SPDX-License-Identifier: Apache-2.0
"""Proofs on real processes: python3, which knows nothing of okosu, with and without each lever."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from preload_tool import huge_pages_now

from okosu import levers, machine, native
from okosu.machine.program import inspect
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

ALL = levers.load()
HERE = machine.read()
PYTHON = os.path.realpath(sys.executable)

HOLD = "block = b'x' * (24 << 20); import time; time.sleep(0.1)"
# Larger than the threshold that glibc adapts, so that each block is mapped and unmapped anew.
CHURN = "for i in range(4): b'x' * (40 << 20)"
THREADS = (
    "import threading as t, time; w = [t.Thread(target=time.sleep, args=(0.05,)) for _ in range(3)];"
    "[x.start() for x in w]; [x.join() for x in w]"
)


def run(code: str, *options: str, observe: str = "") -> Measurement:
    """Measure python3 running the code, started by okosu-run with the options."""
    with tempfile.TemporaryDirectory() as folder:
        proof = Path(folder) / "proof"
        argv = [native.find("okosu-measure"), "--proof=sample", "--stdout=/dev/null", *([observe] if observe else [])]
        argv += ["--", native.find("okosu-run"), f"--proof={proof}", *options, "--", PYTHON, "-S", "-c", code]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        lines = proof.read_text().splitlines() if proof.exists() else []
    measured = msgspec.json.decode(done.stdout, type=Measurement)
    assert measured.status == 0, done.stderr
    return msgspec.structs.replace(measured, preload=[json.loads(line) for line in lines])


@functools.cache
def base(code: str, observe: str = "") -> Measurement:
    return run(code, observe=observe)


def prove(lever: str, value: str, code: str, observe: str = "") -> Proof:
    measured = run(code, f"--{lever}={value}", observe=observe)
    return ALL[lever].proof(value, measured, base(code, observe), None)


def check_superpage(proofs: Callable[[str], list[Proof]], hold: str = HOLD) -> None:
    """Check the proofs of a program that holds memory, which `proofs` is given.

    A busy machine may not take a sample in the first of these times, and the kernel may have no huge pages.
    """
    for seconds in (0.1, 1, 10):
        found = proofs(hold.replace("0.1", str(seconds)))
        if all(proof.holds for proof in found):
            return
        if not huge_pages_now(24):
            pytest.skip("the kernel had no huge pages for 24 MiB")
    pytest.fail(str(found))


thp_here = pytest.mark.skipif(HERE.thp.mode != "madvise", reason="needs transparent huge pages set to madvise")


@thp_here
@pytest.mark.parametrize("value", ["glibc", pytest.param("thp", marks=pytest.mark.preloads)])
def test_superpage_is_proved(value: str) -> None:
    def proofs(code: str) -> list[Proof]:
        proof = prove("superpage", value, code)
        assert not proof.holds or proof.values["huge_mib"] >= 20
        return [proof]

    check_superpage(proofs)


@thp_here
@pytest.mark.preloads
def test_superpage_is_proved_on_the_arenas_of_an_interpreter() -> None:
    """Which are mappings of 256 KiB (1 MiB since CPython 3.10), so that only `small` reaches them."""

    def proofs(code: str) -> list[Proof]:
        return [prove("superpage", "small", code)]

    hold = "import time; held = [(number, str(number)) for number in range(300_000)]; time.sleep(0.1)"
    assert not prove("superpage", "thp", hold).holds
    check_superpage(proofs, hold)


@thp_here
@pytest.mark.preloads
@pytest.mark.skipif(HERE.thp.shared not in ("advise", "within_size"), reason="needs shmem_enabled set to advise")
def test_superpage_is_proved_on_shared_memory() -> None:
    """Which only `shared` reaches: Python's anonymous mmap is shared, unless it is told otherwise."""

    def proofs(code: str) -> list[Proof]:
        pilot, again = run(code, "--superpage=shared"), run(code, "--superpage=shared")
        lever = ALL["superpage"]
        assert not lever.proof("shared", run(code), base(code), pilot).holds
        return [lever.proof("shared", pilot, base(code), None), lever.proof("shared", again, base(code), pilot)]

    hold = "import mmap, time; m = mmap.mmap(-1, 24 << 20); m[::4096] = b'x' * len(m[::4096]); time.sleep(0.1)"
    if HERE.thp.shared == "advise":
        assert not ALL["superpage"].proof("shared", run(hold, "--superpage=small"), base(hold), None).holds
    check_superpage(proofs, hold)


@thp_here
@pytest.mark.preloads
def test_superpage_is_not_proved_by_the_placebo() -> None:
    assert not ALL["superpage"].proof("thp", run(HOLD, "--placebo"), base(HOLD), None).holds


@thp_here
@pytest.mark.preloads
@pytest.mark.parametrize("end", ["", "; del block"], ids=["memory held", "memory freed before the end"])
def test_superpage_is_proved_in_later_runs(end: str) -> None:
    lever = ALL["superpage"]

    def proofs(code: str) -> list[Proof]:
        pilot, again = run(code + end, "--superpage=thp"), run(code + end, "--superpage=thp")
        assert not lever.proof("thp", run(code + end), base(code + end), pilot).holds
        return [lever.proof("thp", pilot, base(code + end), None), lever.proof("thp", again, base(code + end), pilot)]

    check_superpage(proofs)


@pytest.mark.preloads
def test_retain_is_proved_on_a_program_that_hands_blocks_back() -> None:
    proof = prove("retain", "on", CHURN)
    assert proof.holds, proof.text
    pilot = run(CHURN, "--retain")
    assert ALL["retain"].proof("on", run(CHURN, "--retain"), base(CHURN), pilot).holds
    assert not ALL["retain"].proof("on", run(CHURN), base(CHURN), pilot).holds


@pytest.mark.preloads
def test_prezero_is_proved_on_a_program_whose_blocks_come_and_go() -> None:
    lever = ALL["prezero"]
    pilot = run(CHURN, "--prezero")
    proof = lever.proof("on", pilot, base(CHURN), None)
    assert proof.holds, proof.text
    assert lever.proof("on", run(CHURN, "--prezero"), base(CHURN), pilot).holds
    assert not lever.proof("on", run(CHURN, "--placebo"), base(CHURN), pilot).holds
    assert not prove("prezero", "on", "pass").holds


def test_retain_has_nothing_to_do_in_a_program_that_frees_nothing() -> None:
    proof = prove("retain", "on", "pass")
    assert not proof.holds
    assert "hands no large blocks back" in proof.text


@pytest.mark.preloads
@pytest.mark.skipif(len(HERE.cpus_allowed) < 2, reason="needs two CPUs")
def test_pin_is_proved_for_all_threads() -> None:
    policy = ALL["pin"].values(HERE, inspect(PYTHON), None)[0][0]
    proof = prove("pin", policy, THREADS, "--threads")
    assert proof.holds, proof.text
    assert not ALL["pin"].proof(policy, run(THREADS, observe="--threads"), base(THREADS, "--threads"), None).holds


@pytest.mark.skipif(not Path("/proc/self/numa_maps").exists(), reason="needs a kernel with NUMA")
def test_a_memory_policy_is_proved_even_on_one_node() -> None:
    node = HERE.nodes[0].number
    for value in ("interleave", "local", f"bind:{node}", f"preferred:{node}"):
        proof = prove("numa", value, HOLD, "--numa")
        assert proof.holds, proof.text
    unbound = run(HOLD, observe="--numa")
    assert not ALL["numa"].proof("interleave", unbound, unbound, None).holds


def test_what_base_leaves_to_try() -> None:
    program = inspect(PYTHON)
    # It has no shared memory, which is not known before it runs.
    tiers = [[value for value in arm if value != "shared"] for arm in ALL["superpage"].values(HERE, program, None)]
    assert ALL["superpage"].values(HERE, program, base(HOLD)) == tiers
