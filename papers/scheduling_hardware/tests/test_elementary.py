# SPDX-License-Identifier: Apache-2.0
"""The elementary functions of the machine's math.h, compiled for this machine, beside this machine's long double."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from papers.scheduling_hardware import ROOM

SOURCES = [
    ROOM / "sw/posix" / f"{name}.c"
    for name in ("math", "exponential", "circular", "remainder", "fused", "gamma", "single")
]
FLAGS = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-ffp-contract=off"]
MOST = 0.8
"""Units in the last place; the header promises less than one."""


def objects(folder: Path) -> list[Path]:
    """The functions as this machine's compiler makes them."""
    subprocess.run(["gcc", *FLAGS, "-I", ROOM / "sw/include", "-c", *SOURCES], cwd=folder, check=True)
    return [folder / f"{source.stem}.o" for source in SOURCES]


def test_errors_stay_below_one_unit_and_special_operands_are_as_in_c(tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.o"
    subprocess.run(["ld", "-r", "-o", renamed, *objects(tmp_path)], check=True)
    subprocess.run(["objcopy", "--prefix-symbols=sw_", renamed], check=True)
    program = tmp_path / "elementary"
    source = ROOM / "tests/programs/elementary.c"
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", "-o", program, source, renamed, "-lm"], check=True)
    said = subprocess.run([program, "50000"], capture_output=True, text=True, check=True).stdout
    assert not re.findall("^.* is .*$", said, re.MULTILINE)
    errors = {line.split()[0]: float(line.split()[1]) for line in said.splitlines()}
    assert len(errors) == 27
    assert max(errors.values()) < MOST, errors
    # Double rounding alone would leave half a unit: the bound can be missed.
    assert min(errors.values()) > 0.4, errors
