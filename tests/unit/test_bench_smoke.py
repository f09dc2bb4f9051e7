# SPDX-License-Identifier: Apache-2.0
"""`okosu bench --smoke` with the real programs: all succeed, and their output becomes tables and records."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from effort import length

from okosu import native
from okosu.bench import figures, rows
from okosu.errors import OkosuError
from okosu.records import files


def present() -> list[str]:
    try:
        return native.benches()
    except OkosuError:
        return []


pytestmark = pytest.mark.skipif(not present(), reason="make build")


@pytest.mark.lab
def test_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "smoke.json"
    # test_bench_native.py smoke-tests each, too.
    names = [name for name in present() if length(name in ("latency", "zero"), True)]
    # The test has its own lock: nothing here is a measurement that other processes must not disturb.
    environment = {**os.environ, "TMPDIR": str(tmp_path), "OKOSU_NATIVE": str(tmp_path)}
    for name in names:
        program = native.find(f"okosu-bench-{name}")
        (tmp_path / program.name).symlink_to(program)
    done = subprocess.run(
        [sys.executable, "-m", "okosu", "bench", "--smoke", "--json", str(path)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    held = files.read(path)
    assert held.finished
    by_bench = rows.from_records(held.records)
    assert sorted(by_bench) == names
    assert sum(map(len, by_bench.values())) == len(held.records)
    for name, found in by_bench.items():
        about = held.plan.benches[name]
        assert about["finished"]
        assert about["header"]["smoke"]
        assert f"{name}: CPU " in done.stdout
        known = {routine["name"] for routine in about["routines"]}
        assert {row.routine for row in found} <= known
        for one in figures.compare(found):
            assert one.ours is None or figures.cost(one.ours) is not None
    assert "a smoke test: no number of it means anything" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
