# SPDX-License-Identifier: Apache-2.0
"""The lever prezero on two programs, with a CPU that idles and with none: paired runs, as `okosu try` has them."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import okosu
from okosu import native
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.base import Say

ROUNDS, FEW = 11, 3
WARM = 1 << 30
"""Bytes touched before each run, for a virtual machine's memory may be with its host."""
TEMPORARIES = native.PACKAGE.parent / "examples/real/numpy-temporaries.py"
SHOWN = "okosu try --levers prezero -- build/examples/churn 40 1 calloc; and a numpy program; idle, then with CPU hogs"


def _programs() -> dict[str, list[str]]:
    """Return the programs; OkosuError where one is not here."""
    churn = native.find("okosu-measure").parents[2] / "examples" / "churn"
    for example in (churn, TEMPORARIES):
        if not example.is_file():
            raise OkosuError(f"examples/{example.name} was not found", "it is there in a checkout only", "make build")
    if importlib.util.find_spec("numpy") is None:
        raise OkosuError("numpy was not found", "one of the programs is written in it", "pip install numpy")
    return {"churn": [str(churn), "40", "1", "calloc"], "numpy": [sys.executable, str(TEMPORARIES)]}


@contextlib.contextmanager
def _hogs(count: int) -> Iterator[None]:
    """Keep so many endless loops running."""
    running = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def _run(program: list[str], levers: list[str]) -> float:
    """Return the nanoseconds of one run, after one that touches memory under the same levers."""
    launcher = [str(native.find("okosu-run")), *levers, "--"]
    subprocess.run([*launcher, str(native.find("okosu-warm")), str(WARM)], check=False, capture_output=True)
    measure = [str(native.find("okosu-measure")), "--proof=none", "--stdout=/dev/null", "--"]
    done = subprocess.run([*measure, *launcher, *program], capture_output=True, text=True, check=False)
    told = json.loads(done.stdout) if done.returncode == 0 else {}
    if told.get("status") != 0:
        raise OkosuError(f"{Path(program[0]).name} did not run to its end", done.stderr.strip(), "run it by hand")
    return float(told["wall_ns"])


def _measure(rounds: int, say: Say) -> Iterator[Record]:
    programs = _programs()
    cpus = len(os.sched_getaffinity(0))
    # One for each CPU leaves none to idle.
    for busy, hogs in (("idle", 0), ("busy", cpus)):
        if busy == "idle" and cpus < 2:
            raise OkosuError("no CPU can idle beside the program", "this machine offers one CPU only", "two CPUs")
        for name, program in programs.items():
            say(f"{name}, {busy}: {rounds} rounds of base and prezero")
            arms = {"base": [], "prezero": ["--prezero"]}
            records = {arm: _record(name, arm, busy) for arm in arms}
            yield from records.values()
            order = random.Random(f"{name} {busy}")
            with _hogs(hogs):
                for number in range(rounds):
                    for arm in order.sample(sorted(arms), len(arms)):
                        records[arm].samples.append(_run(program, arms[arm]))
                        records[arm].rounds.append(number)


def _record(program: str, arm: str, busy: str) -> Record:
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        subject=program,
        variant=arm,
        stage="bench",
        metric="wall",
        unit="ns",
        parameters={"of": "try", "cpus": busy},
    )


def measure(say: Say) -> Iterator[Record]:
    """Yield wall times by program, arm and whether a CPU idled; they grow as the rounds go on."""
    return _measure(ROUNDS, say)


def measure_few(say: Say) -> Iterator[Record]:
    """Yield the same of a few rounds."""
    return _measure(FEW, say)
