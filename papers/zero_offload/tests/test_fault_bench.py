# SPDX-License-Identifier: Apache-2.0
"""The benchmark of page faults: what it prints is there, and was what it says."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from okosu import native

PAGES = {"fault-4k": 4096, "fault-2m": 2 << 20}


@pytest.fixture(scope="module")
def fault_lines() -> list[dict[str, Any]]:
    words = [native.find("okosu-bench-fault"), "--smoke", "--rounds", "3"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_fault_counts(fault_lines: list[dict[str, Any]]) -> None:
    """Faults by getrusage, and huge pages by smaps, are what each way to get memory must show."""
    rows = [line for line in fault_lines if line["type"] == "row"]
    absent = {line["variant"]: line for line in fault_lines if line["type"] == "absent"}
    shown = {row["variant"] for row in rows}
    assert shown | set(absent) >= {
        "touch",
        "populate",
        "populate-write",
        "exists",
        "mapped",
        "thp-touch",
        "hugetlb-touch",
    }
    assert all(line["why"] and line["fix"] for line in absent.values())
    for row in rows:
        page = PAGES[row["routine"]]
        assert row["bytes_per_item"] == page
        assert row["items"] * page == row["n"]
        extra = row["extra"]
        assert extra["faults_after"] == 0
        if row["variant"].endswith(("touch", "exists", "exists-map", "exists-clear")):
            assert extra["faults"] == row["items"]
        elif row["variant"].endswith("mapped"):
            assert extra["faults"] == 0
        if not row["variant"].endswith("exists-map"):
            assert extra["huge_kb"] == (0 if page == 4096 else row["n"] // 1024)


def test_fault_units_agree(fault_lines: list[dict[str, Any]]) -> None:
    """Nanoseconds and core cycles are of the same runs: their ratio is a frequency."""
    rows = {(row["variant"], row["unit"]): row["samples"] for row in fault_lines if row["type"] == "row"}
    assert rows
    for (variant, unit), samples in rows.items():
        if unit == "cycles":
            for cycles, ns in zip(samples, rows[variant, "ns"], strict=True):
                assert 0.2 < cycles / ns < 10


def test_a_mapped_page_is_cheaper_than_a_new_one(fault_lines: list[dict[str, Any]]) -> None:
    cost = {
        row["variant"]: min(row["samples"]) / row["items"]
        for row in fault_lines
        if row["type"] == "row" and row["unit"] == "cycles"
    }
    for new, mapped in (("touch", "mapped"), ("thp-touch", "thp-mapped")):
        if new in cost and mapped in cost:
            assert cost[mapped] * 5 < cost[new]
