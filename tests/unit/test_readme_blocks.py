# SPDX-License-Identifier: Apache-2.0
"""The documents' blocks: a record that is not there yet is named, and the table of engines takes any number of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from okosu.bench import rows
from okosu.records import files
from okosu.records.types import REPRODUCE_SCHEMA, Envelope, Tool
from papers.common.tests.rows import result, row

ROOT = Path(__file__).resolve().parents[2]
MIB2 = 2 << 20


@pytest.fixture
def readme(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Return tools/readme.py, which finds records below an empty folder."""
    spec = importlib.util.spec_from_file_location("readme", ROOT / "tools/readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def record(path: Path, engine: str, device: str, absent: str) -> None:
    """Write what `okosu reproduce zero-offload` would of one engine."""
    made = [
        row("post", engine, "okosu", [150.0] * 3, n=MIB2, items=1),
        row("complete", engine, "okosu", [MIB2 / 50] * 3, n=MIB2, unit="ns", config=device, extra={"scanned": 45}),
        row("processor", engine, "okosu", [MIB2 / 25] * 3, n=MIB2, unit="ns"),
    ]
    gone = [{"variant": absent, "why": "its driver is not there"}]
    path.parent.mkdir()
    kept = rows.records(result("zero-engines", made), "m")
    plan = {"benches": {"zero-engines": {"absent": gone}}}
    files.write(
        Envelope(schema=REPRODUCE_SCHEMA, tool=Tool("okosu", "0", ""), machine={}, plan=plan, records=kept), path
    )


def test_what_is_not_recorded_yet_is_named(readme: ModuleType) -> None:
    block = "x\n<!-- records: a/b.json c/d.json engines -->\nold\n<!-- end -->\ny\n"
    filled = readme.fill(block)
    assert filled == block.replace("old\n", "\nNot recorded yet: `a/b.json`, `c/d.json`.\n")
    assert readme.fill(filled) == filled


def test_engines_of_several_machines_are_one_table(readme: ModuleType, tmp_path: Path) -> None:
    record(tmp_path / "epyc-2026/z.json", "nt", "a CPU", "cuda")
    record(tmp_path / "h200-2027/z.json", "cuda", "NVIDIA H200", "dsa")
    block = "<!-- records: epyc-2026/z.json h200-2027/z.json engines -->\n<!-- end -->\n"
    lines = readme.fill(block).splitlines()[3:-1]
    assert lines == [
        "| epyc-2026 | nt | a CPU | 2 MiB | 150 cycles | 42 µs | 50.0 | 0.043 | 45 blocks |",
        "| h200-2027 | cuda | NVIDIA H200 | 2 MiB | 150 cycles | 42 µs | 50.0 | 0.043 | 45 blocks |",
        "",
        "* epyc-2026 has no cuda: its driver is not there.",
        "* h200-2027 has no dsa: its driver is not there.",
    ]
