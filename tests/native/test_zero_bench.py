# SPDX-License-Identifier: Apache-2.0
"""The benchmark of clearing: it prints all its rows, and the memory was cleared."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from okosu import native


def smoke(name: str, *argv: str) -> list[dict[str, Any]]:
    program = native.find(f"okosu-bench-{name}")
    done = subprocess.run([program, "--smoke", *argv], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_zero_rows() -> None:
    lines = smoke("zero", "--sizes", "64,3000")
    rows = [line for line in lines if line["type"] == "row"]
    seen = {(row["routine"], row["mode"], row["variant"]) for row in rows}
    for variant in ("loop8", "okosu_set", "okosu_set_near", "okosu_set_far", "glibc"):
        for point in (("set", "hot"), ("set", "cold"), ("set", "drained"), ("set", "reload"), ("mix", "mix16-512")):
            assert (*point, variant) in seen, (point, variant)
    assert ("page", "cold", "okosu_zero_page") in seen
    assert all(
        row["kind"] == "peer" and row["library"].startswith("glibc ") for row in rows if row["variant"] == "glibc"
    )
    # A row of an entry names the variant that the entry chose.
    assert all(row["config"] for row in rows if row["variant"].startswith("okosu_"))
    assert {row["align"][0] for row in rows if row["mode"] == "hot"} >= {0, 24}
    # No store instruction sets 3000 bytes faster than 128 bytes per cycle.
    for row in rows:
        assert all(sample > row["items"] / 128 for sample in row["samples"]), row
