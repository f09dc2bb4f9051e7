# SPDX-License-Identifier: Apache-2.0
"""What a lever can save at most, by arithmetic: never less than it did save, and small where little was counted."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from okosu.levers.copy import Copy
from okosu.levers.pin import Pin
from okosu.machine.model import Cpu, Machine, Node
from okosu.records import summary
from okosu.records.measurement import Measurement

RESULTS = Path(__file__).parents[2] / "results"
TWO = Machine(root="/nowhere", cpus=[Cpu(0, core=0, siblings=[0]), Cpu(1, core=1, siblings=[1])], nodes=[Node(0)])
QUIET = Measurement(wall_ns=3_000_000_000, delay_ns=2_000_000, migrations=2, nvcsw=4, nivcsw=30)


def copied(calls: int, size: int) -> Measurement:
    return Measurement(wall_ns=1, preload=[{"by": "copy", "as_asked": True, "classes": {"16384": [calls, size]}}])


def base(seconds: float) -> list[Measurement]:
    return [Measurement(wall_ns=int(seconds * 1e9))]


def test_what_copy_saved_is_within_its_bound() -> None:
    """Every recorded trial in which copy was FASTER: the calls and bytes stand in its proof."""
    checked = 0
    for path in RESULTS.glob("*/*.json"):
        if "verdicts" not in json.loads(path.read_bytes()):
            continue
        kept = summary.read(path)
        for verdict in kept.verdicts:
            told = re.match(r"([\d,]+) calls, ([\d.]+) GiB", verdict.proof)
            if verdict.arm == "copy" and verdict.verdict == "FASTER" and told and verdict.interval:
                calls, size = int(told[1].replace(",", "")), int(float(told[2]) * 2**30)
                bound = Copy().bound(TWO, base(float(kept.plan["base_s"])), copied(calls, size))
                assert bound is not None
                assert bound.share > 1 - verdict.interval[0]
                checked += 1
    assert checked


def test_few_copies_cannot_matter_and_nothing_is_said_without_counts() -> None:
    bound = Copy().bound(TWO, base(3.0), copied(20_000, 1 << 20))
    assert bound is not None
    assert bound.share == pytest.approx((20_000 * 50e-9 + (1 << 20) * 2e-9) / 3)
    assert "20,000 calls" in bound.why
    assert Copy().bound(TWO, base(3.0), None) is None
    assert Copy().bound(TWO, base(3.0), Measurement(wall_ns=1)) is None


def test_one_thread_that_hardly_moved_or_waited_gains_nothing_by_staying() -> None:
    bound = Pin().bound(TWO, [QUIET], None)
    assert bound is not None
    assert bound.share == pytest.approx((0.002 + 2 * 3e-3 + 4 * 0.1e-3 + 30 * 0.25e-3) / 3)
    assert bound.share < 0.01


def test_the_worst_run_of_base_makes_the_bound_of_pin() -> None:
    """Measured on a busy machine: 1.07 of 1.57 s were spent waiting for a CPU."""
    busy = Measurement(wall_ns=1_573_967_019, delay_ns=1_074_679_271, migrations=0, nvcsw=3, nivcsw=160)
    bound = Pin().bound(TWO, [QUIET, busy], None)
    assert bound is not None
    assert bound.share > 0.68


@pytest.mark.parametrize(
    "more",
    [{"threads": 1}, {"forks": 1}, {"processes": 2}, {"traced": False}, {"delay_ns": None}, {"migrations": None},
     {"delay_ns": 3_000_000_001}],
)  # fmt: skip
def test_no_bound_for_pin_where_threads_share_or_nothing_was_read(more: dict[str, Any]) -> None:
    assert Pin().bound(TWO, [QUIET, msgspec.structs.replace(QUIET, **more)], None) is None


def test_no_bound_for_pin_on_cpus_that_differ(tmp_path: Path) -> None:
    two_nodes = msgspec.structs.replace(TWO, nodes=[Node(0), Node(1)])
    threads = [Cpu(n, core=n // 2, siblings=[n // 2 * 2, n // 2 * 2 + 1]) for n in range(4)]
    assert Pin().bound(two_nodes, [QUIET], None) is None
    assert Pin().bound(msgspec.structs.replace(TWO, cpus=threads), [QUIET], None) is None
    for cpu, capacity in (("cpu0", "1024"), ("cpu1", "446")):
        folder = tmp_path / "sys/devices/system/cpu" / cpu
        folder.mkdir(parents=True)
        (folder / "cpu_capacity").write_text(f"{capacity}\n")
    assert Pin().bound(msgspec.structs.replace(TWO, root=str(tmp_path)), [QUIET], None) is None


def test_where_libc_was_timed_its_time_counts_and_the_cost_of_what_was_too_short() -> None:
    classes = {"64": [1000, 64_000], "32768": [800, 26 << 20], "1048576": [2, 2 << 20]}
    line = {"by": "copy", "as_asked": True, "classes": classes, "timed_ns": 4_000_000, "timed_above": 4096}
    bound = Copy().bound(TWO, base(1.0), Measurement(wall_ns=1, preload=[line]))
    assert bound is not None
    assert bound.share == pytest.approx(4e-3 + 1000 * 50e-9 + 64_000 * 2e-9 + (2 << 20) * 1.6e-9)
