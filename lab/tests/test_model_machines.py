# SPDX-License-Identifier: Apache-2.0
"""The machines' files, the text that the model gets of them, and what its counts cost on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.cli import _model
from lab.formats import BuiltKernel, RunFile
from lab.model import machines, model_plugin, plugin_counts
from lab.run.outcome import Outcome
from lab.tests import model_tool, obeys
from okosu.errors import USAGE_ERROR, OkosuError

NAMES = ["celeron-900", "core-ultra-155h", "pentium4-1600", "zen5-9950x"]

# 100 instructions, 10 lines in L1, 5 in L2, 2 in memory; 3 small walks and one large.
COUNTS = {
    "instructions": 300,
    "loads": 12,
    "stores": 5,
    "load_bytes": 96,
    "store_bytes": 40,
    "flushes": 0,
    "crossings": 0,
    "io": 0,
    "found": [10, 5, 2],
    "full_lru_misses": [0, 1],
    "translated": [13, 4],
    "walks": [3, 1],
}
NOTHING = {name: [0] * len(value) if isinstance(value, list) else 0 for name, value in COUNTS.items()}
REGION = {"what": "region", "label": 181, "cpu": 0, "broken": 0, "user": COUNTS, "kernel": NOTHING}


def text_of(name: str) -> str:
    return (machines.model_folder() / "machines" / f"{name}.toml").read_text()


def test_the_machines_are_these() -> None:
    assert machines.names() == NAMES


@pytest.mark.parametrize("name", NAMES)
@model_tool.needs_gcc
def test_the_model_takes_every_machine(name: str) -> None:
    machine = machines.find(name)
    trace = model_tool.loads(*range(0, 1 << 16, 4096))
    region = model_tool.run(machine.shape(2, 7), trace).regions[0]
    # The counts have as many levels as the machine whose costs they are multiplied with.
    counts = plugin_counts.read(json.dumps(region).encode())[0].user
    assert counts.cycles(machine) >= 16 * (machine.memory.cycles + machine.walk.cycles_4k)


@pytest.mark.parametrize("name", NAMES)
def test_costs_grow_outwards(name: str) -> None:
    machine = machines.find(name)
    cycles = [*(cache.cycles for cache in machine.cache), machine.memory.cycles]
    sizes = [cache.bytes for cache in machine.cache]
    assert cycles == sorted(cycles)
    assert sizes == sorted(sizes)


def test_the_colours_of_the_paper_s_machines() -> None:
    # The number of colours: the pages of one way of the L2.
    l2 = {name: machines.find(name).cache[1] for name in ("celeron-900", "pentium4-1600")}
    assert {name: cache.bytes // cache.ways // 4096 for name, cache in l2.items()} == {
        "celeron-900": 8,
        "pentium4-1600": 16,
    }


def test_an_unknown_machine_names_those_there_are() -> None:
    with pytest.raises(OkosuError, match="no machine is called 'pentium5'") as caught:
        machines.find("pentium5")
    assert caught.value.status == USAGE_ERROR
    assert "pentium4-1600" in caught.value.why


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"memory.cycles" =', '"memory.cycle" =', "no source for memory.cycles"),
        ("[sources]\n", '[sources]\n"more" = "read: x"\n', "sources for what is not there: more"),
        ('hertz = "read: the paper', 'hertz = "the paper', "a source begins with"),
        ("ways = 4", "waves = 4", "unknown field `waves`"),
        ("hertz = 900", "hertz = fast 900", "nvalid value"),
    ],
)
def test_a_machine_without_all_its_sources_is_refused(old: str, new: str, why: str) -> None:
    text = text_of("celeron-900")
    assert old in text
    with pytest.raises(OkosuError, match="here does not describe a machine") as caught:
        machines.parse(text.replace(old, new), "here")
    assert why in caught.value.why


def test_costs_are_sums() -> None:
    machine = machines.find("pentium4-1600")
    region = plugin_counts.read(json.dumps(REGION).encode())[0]
    cycles = 300 / 3 + 10 * 2 + 5 * 19 + 2 * 226 + 3 * 38 + 1 * 19
    assert region.cycles(machine) == pytest.approx(cycles)
    assert region.seconds(machine) == pytest.approx(cycles / 1.6e9)
    assert region.megabytes_per_second(machine) == pytest.approx(136 / (cycles / 1.6e9) / 1e6)
    assert (region.user.misses(1), region.user.misses(2)) == (7, 2)


def test_a_second_tlb_adds_to_what_it_finds() -> None:
    machine = machines.find("zen5-9950x")
    counts = COUNTS | {
        "found": [0, 0, 0, 0],
        "full_lru_misses": [0, 0, 0],
        "translated": [1, 10, 4],
        "instructions": 0,
        "walks": [0, 0],
    }
    region = plugin_counts.read(json.dumps(REGION | {"user": counts}).encode())[0]
    assert region.user.cycles(machine) == 10 * 7
    with pytest.raises(ValueError, match="zip"):
        region.user.cycles(machines.find("celeron-900"))


def outcome(folder: Path, *regions: dict[str, object]) -> Outcome:
    (path := folder / model_plugin.COUNTS).write_text("".join(json.dumps(region) + "\n" for region in regions))
    return Outcome(0, None, b"", b"", "", "", 1.0, 1.0, {model_plugin.COUNTS: path})


def test_the_table_shows_regions_and_not_what_is_outside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _model.show("pentium4-1600", outcome(tmp_path, REGION | {"what": "outside", "label": 7}, REGION))
    said = capsys.readouterr().err
    assert "region 181, CPU 0" in said
    assert "region 7" not in said
    rows = {line[:18].strip(): line.split()[-2:] for line in said.splitlines() if line.startswith("  ")}
    assert rows["found in L2"] == ["5", "0"]
    assert rows["found in memory"] == ["2", "0"]
    assert rows["walk"] == ["4", "0"]
    assert rows["bytes"] == ["136", "0"]
    assert "no sense" not in said


def test_broken_messages_and_no_region_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _model.show("pentium4-1600", outcome(tmp_path, REGION | {"what": "outside", "broken": 2}))
    said = capsys.readouterr().err
    assert "no region was marked" in said
    assert "2 messages to the model made no sense" in said


def test_the_json_has_counts_costs_and_sources(tmp_path: Path) -> None:
    file = RunFile(
        platform="x86",
        built=BuiltKernel(kernel="6.12", compiler="gcc", series=[], fragments=["x86"], key="k", path="/k"),
        kernel_args=[],
        memory="64M",
        command=["true"],
        status=0,
        signal=None,
        boot_seconds=2.0,
        seconds=0.5,
        files=[],
        model=_model.described("pentium4-1600", outcome(tmp_path, REGION)),
    )
    value = obeys.its_schema(file)["model"]
    assert value["machine"]["id"] == "pentium4-1600"
    assert value["machine"]["sources"]["cache.L1.cycles"].startswith("read: Intel")
    assert value["regions"][0]["user"] == COUNTS
    assert value["regions"][0]["cycles"] > 0


def test_counts_that_were_cut_off_are_an_error(tmp_path: Path) -> None:
    (path := tmp_path / "counts").write_text(json.dumps(REGION)[:-5])
    with pytest.raises(OkosuError, match="the model's counts cannot be read"):
        model_plugin.regions(path)


def test_the_plugin_s_options_stand_commas(tmp_path: Path) -> None:
    machine = machines.find("celeron-900")
    built = model_plugin.Built(Path("/c,d/okosu-model.so"), Path("/c,d/model-trace"), "key")
    option, value = model_plugin.Plugged(built, machine, machine.shape(1, 7)).arguments(tmp_path)
    assert option == "-plugin"
    assert value == f"/c,,d/okosu-model.so,shape={tmp_path}/{model_plugin.SHAPE},out={model_plugin.COUNTS}"
    assert (tmp_path / model_plugin.SHAPE).read_text() == machine.shape(1, 7)
    assert model_plugin.Plugged(built, machine, "", 4096).arguments(tmp_path)[1].endswith(",node-bytes=4096")


def test_memory_beyond_four_gigabytes_is_refused() -> None:
    with pytest.raises(OkosuError, match="no physical addresses"):
        model_plugin.plug("celeron-900", 1, [2 << 30, 2 << 30])
