# SPDX-License-Identifier: Apache-2.0
"""The room's files are where its documents say: blocks, their proofs, the simulator, testbenches; and the how-to's."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, proving, verilator
from papers.scheduling_hardware.dv import core_bench, cycles, sched_bench

HOWTO = ROOM.parents[1] / "docs/howto/add-an-rtl-block.md"
BLOCKS = sorted((ROOM / "rtl").rglob("*.sv"))
LISTS = ("files.f", "foreign.f", "board.f")


def listed(name: str) -> list[str]:
    return [line for line in (ROOM / name).read_text().splitlines() if line.endswith(".sv")]


def test_each_block_is_listed_once() -> None:
    every = [line for name in LISTS for line in listed(name)]
    assert sorted(every) == [str(path.relative_to(ROOM)) for path in BLOCKS]


@pytest.mark.parametrize("path", BLOCKS, ids=lambda path: path.stem)
def test_a_block_has_a_file_and_says_what_it_is_for(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert lines[0] == "// SPDX-License-Identifier: Apache-2.0"
    header = []
    for line in lines[1:]:
        if not line.startswith("//"):
            break
        header.append(line.removeprefix("//").strip())
    assert re.search(r"\w+ \w+.*[.:)]$", " ".join(header))
    code = "\n".join(line.partition("//")[0] for line in lines)
    assert re.findall(r"^(?:module|package)\s+(\w+)", code, re.MULTILINE) == [path.stem]
    ports = re.findall(r"^\s*(input|output)\s[^;]*?(\w+)\s*(?:\[[^\]]*\]\s*)?(?:,|$)", code, re.MULTILINE)
    suffixes = {"input": ("_i", "_ni"), "output": ("_o",)}
    # A board's pins have the names of its maker.
    assert path.parent.name == "board" or not [name for way, name in ports if not name.endswith(suffixes[way])]


def test_each_proof_has_its_properties_its_bugs_and_its_row() -> None:
    proofs = {path.stem for path in (ROOM / "formal").glob("*.sby")}
    assert proofs == {path.stem.removesuffix("_properties") for path in (ROOM / "formal").glob("*_properties.sv")}
    assert proofs == {one.proof for one in proving.bugs()}
    rows = re.findall(r"^\| `(\w+)` \|", (ROOM / "doc/VERIFICATION.md").read_text(), re.MULTILINE)
    assert proofs == set(rows)


def test_the_simulator_and_the_testbenches_are_apart() -> None:
    """What sim/ holds is the simulator's; what dv/core and dv/sched hold, their benches'."""
    simulator = {path.relative_to(ROOM) for path in verilator.sources(ROOM) if path.parent.name == "sim"}
    assert simulator == {path.relative_to(ROOM) for path in (ROOM / "sim").iterdir()}
    benches = {f"{name}.cpp" for name in core_bench.SOURCES}
    benches |= {f"{name}.cpp" for isa in core_bench.ISAS.values() for name in isa.sources}
    benches |= {f"{sched_bench.FOLDER}/{name}.cpp" for name in sched_bench.SOURCES}
    there = {
        str(path.relative_to(ROOM)) for folder in ("core", "sched") for path in (ROOM / "dv" / folder).glob("*.cpp")
    }
    assert there == {name for name in benches if name.startswith("dv/")}


def test_the_block_that_the_how_to_copies_has_all_that_it_asks_for() -> None:
    text = HOWTO.read_text()
    block = re.search(r"`rtl/(\w+)/(\w+)\.sv` is the shortest to copy", text)
    assert block
    area, name = block.groups()
    table = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    files = [file for cell in table for file in re.findall(r"`([^`]+)`", cell)]
    assert {file for file in files if "NAME" in file} == {
        "rtl/AREA/NAME.sv",
        "formal/NAME_properties.sv",
        "formal/NAME.sby",
    }
    for file in files:
        path = ROOM / file.replace("AREA", area).replace("NAME", name)
        assert path.is_file(), file
        # In what is there already the block has a row.
        if "NAME" not in file and file != "doc/INTERFACES.md":
            assert re.search(rf"\b{name}\b", path.read_text()), file


def test_the_how_to_has_the_number_of_programs_whose_cycles_are_known() -> None:
    said = re.search(r"The\s+cycles\s+of\s+(\d+)\s+programs\s+are\s+known", HOWTO.read_text())
    points = json.loads((ROOM / "dv/cycles.json").read_text())["points"]
    assert said
    assert int(said[1]) == len(points) == len(cycles.POINTS)
    document = (ROOM / "doc/VERIFICATION.md").read_text()
    told = re.search(r"digest of the output of (\d+) programs on (\w+) machines", document)
    assert told
    assert int(told[1]) == len(points)
    assert ["five", "six", "seven", "eight", "nine", "ten"].index(told[2]) + 5 == len(cycles.MACHINES)


@pytest.mark.parametrize("name", ["rv32_bugs.toml", "sched_bugs.toml"])
def test_the_document_has_the_number_of_planted_bugs(name: str) -> None:
    count = sum(len(bugs) for bugs in tomllib.loads((ROOM / "dv" / name).read_text()).values())
    document = " ".join((ROOM / "doc/VERIFICATION.md").read_text().split())
    assert f"Of the {count} bugs in `dv/{name}` it finds {count}." in document
