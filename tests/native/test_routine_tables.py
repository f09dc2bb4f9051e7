# SPDX-License-Identifier: Apache-2.0
"""The generated tables of routines contain the rows in the files of a folder, and nothing else."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "native/src"
SCRIPT = SOURCES / "choose/table.sh"


def table(area: str, output: Path, *files: Path) -> list[str]:
    """The rows of the table that the script makes of these files, in its order."""
    done = subprocess.run([SCRIPT, area, output, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = output.read_text(encoding="utf-8")
    rows, names = re.findall(r"= \{\n(.*?)    0\};", text, re.DOTALL)
    found = re.findall(rf"&okosu_{area}_row_(\w+),", rows)
    assert re.findall(rf"&okosu_{area}_row_(\w+)\.about,", names) == found
    return found


def test_rows_are_in_the_order_of_their_ranks(tmp_path: Path) -> None:
    first, second = tmp_path / "one.c", tmp_path / "two.avx2.c"
    first.write_text("OKOSU_ROUTINE(copy, 100, last) = {\n};\nOKOSU_ROUTINE(copy, 9, least) = {};\n")
    second.write_text("OKOSU_ROUTINE(copy, 20,\n              wide) = {};\n// OKOSU_ROUTINE(copy, 1, comment)\n")
    assert table("copy", tmp_path / "table.c", first, second) == ["least", "wide", "last"]


@pytest.mark.parametrize("line", ["OKOSU_ROUTINE(copy, high, one) = {};\n", "OKOSU_ROUTINE(copy, 10, one);\n"])
def test_a_row_that_cannot_be_read_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("OKOSU_ROUTINE(copy, 10, other) = {};\n" + line)
    done = subprocess.run(
        [SCRIPT, "copy", tmp_path / "table.c", tmp_path / "one.c"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "is not OKOSU_ROUTINE" in done.stderr


def test_a_folder_without_rows_of_the_area_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("OKOSU_ROUTINE(zero, 10, other) = {};\n")
    done = subprocess.run(
        [SCRIPT, "copy", tmp_path / "table.c", tmp_path / "one.c"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "no row of copy" in done.stderr


@pytest.mark.parametrize("area", ["copy", "zero"])
def test_the_chooser_names_no_routine(area: str, tmp_path: Path) -> None:
    """The names of routines occur only in the files of their own area."""
    routines = list((SOURCES / area / "routines").glob("*.c"))
    rows = table(area, tmp_path / "table.c", *routines)
    files = "".join(path.read_text(encoding="utf-8") for path in routines)
    assert len(rows) == files.count("OKOSU_ROUTINE(") >= 6
    # isa.h queries the processor for instruction sets, some of which share their name with a routine.
    chooser = [path for path in (SOURCES / "choose").glob("*.[ch]") if path.name != "isa.h"]
    text = "".join(path.read_text(encoding="utf-8") for path in chooser)
    assert [name for name in rows if f'"{name.replace("_", "-")}"' in text or f"row_{name}" in text] == []
