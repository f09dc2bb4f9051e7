# SPDX-License-Identifier: Apache-2.0
"""The scripts for real programs: what input they generate, and that the documentation names each of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT / "examples" / "real"
PROGRAMS = sorted(p for p in REAL.iterdir() if p.suffix in {".sh", ".py", ".sql"})


def test_the_documentation_names_every_example() -> None:
    text = (ROOT / "docs" / "EXAMPLES.md").read_text()
    for source in (ROOT / "examples/programs").glob("*.c"):
        assert f"| `{source.stem} " in text
        assert f"okosu try -- build/examples/{source.stem}" in text or f"build/examples/{source.stem} " in text
    named = set(re.findall(r"^\| `okosu try .*?examples/real/([\w.-]+)", text, re.MULTILINE))
    assert named == {program.name for program in PROGRAMS}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_script_can_be_run_and_names_its_package(program: Path) -> None:
    head = "\n".join(program.read_text().splitlines()[:8])
    assert re.search(r"Debian packages?: [a-z0-9-]+(, [a-z0-9-]+)*\.$", head, re.MULTILINE)
    if program.suffix == ".sql":
        return
    assert program.stat().st_mode & 0o111 == 0o111
    if program.suffix == ".sh":
        subprocess.run(["sh", "-n", program], check=True)
    else:
        compile(program.read_text(), program, "exec")


def test_the_text_is_park_and_miller() -> None:
    awk = shutil.which("awk")
    assert awk is not None
    lines = subprocess.run(
        [awk, "-v", "lines=5000", "-f", REAL / "text.awk"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert len(lines) == 5000
    x = 1
    for number, line in enumerate(lines, start=1):
        x = x * 16807 % (2**31 - 1)
        y = x >> 16
        state = "done" if y % 5 else "retried"
        assert line == (
            f"{number:08d} session {x >> 3:07x} from 10.{y % 4}.{y % 50}.{y % 251}"
            f" took {y * 7 % 9973} us, state {state}"
        )


def test_the_join_at_a_sixty_fourth_of_its_size() -> None:
    sqlite3 = pytest.importorskip("sqlite3")
    text = (REAL / "sqlite-join.sql").read_text()
    assert text.count("524287") == 3
    assert text.count("1048575") == 1
    text = text.replace("524287", "8191").replace("1048575", "16383")
    setup, select = "\n".join(s for s in text.splitlines() if s[:1] != ".").split("\nSELECT", 1)
    with sqlite3.connect(":memory:") as base:
        base.executescript(setup)
        rows = base.execute("SELECT" + select).fetchall()

    customer = {i * 305419897 & 8191: i for i in range(8192)}
    amounts, names = defaultdict(list), defaultdict(set)
    for i in range(16384):
        of = customer[(i * 40503 + 12345) & 8191]
        amounts[of % 97].append(i * 7919 % 10007)
        names[of % 97].add(f"customer {of:08d}")
    assert rows == [(r, len(amounts[r]), sum(amounts[r]), max(names[r])) for r in sorted(amounts)]
