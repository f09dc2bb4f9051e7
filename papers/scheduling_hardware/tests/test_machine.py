# SPDX-License-Identifier: Apache-2.0
"""The one table of the machine's options: command line, checks, parameters, sweeps and JSON agree with it."""

from __future__ import annotations

import argparse
import re

import msgspec
import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, sweeps, verilator
from papers.scheduling_hardware.commands import machine as command
from papers.scheduling_hardware.machine import (
    BUSES,
    CONTEXTS,
    ISAS,
    OPTIONS,
    SCHEDULERS,
    Machine,
    Option,
    add_arguments,
    chosen,
)

OTHER: dict[str, tuple[str, int]] = {
    "pes": ("3", 3),
    "context": ("local", CONTEXTS.index("local")),
    "banks": ("8", 8),
    "threads": ("64", 64),
    "watches": ("5", 5),
    "contexts": ("4", 4),
    "dcache": ("256", 256),
    "bus": ("pipelined", BUSES.index("pipelined")),
    "isa": ("rv32", ISAS.index("rv32")),
    "scheduler": ("staged", SCHEDULERS.index("staged")),
}
"""For each option a value that is not its default, and its number in the RTL."""


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_an_option_that_is_typed_or_swept_reaches_the_rtl_and_the_record(option: Option) -> None:
    typed, number = OTHER[option.name]
    assert typed != str(option.default)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    machine = chosen(vars(parser.parse_args([f"--{option.name}", typed])))
    machine.check()
    [point] = sweeps.points(sweeps.Point(Machine(), "ssh", ("x.c",)), [(option.name, (typed,))])
    assert point.machine == machine
    assert machine.parameters()[option.parameter] == number
    assert machine.parameters(option.name) == {option.parameter: number}
    assert f"-G{option.parameter}={number}" in verilator.command(ROOM, machine, checked=False, waves=False)
    if option.macro:
        assert f"-D{option.macro}={number}" in " ".join(verilator.command(ROOM, machine, checked=False, waves=False))
    assert str(msgspec.to_builtins(sweeps.described(point, 0))["machine"][option.name]) == typed
    assert option.name in command._BUILD


def test_the_default_that_help_shows_is_that_of_the_machine_which_is_built() -> None:
    default = Machine(pes=16, context="mem")
    parser = argparse.ArgumentParser()
    add_arguments(parser, default)
    shown = dict(re.findall(r"^  --(\w+) .*?\(default\s+(\w+)\)", parser.format_help(), re.DOTALL | re.MULTILINE))
    assert shown == {option.name: str(getattr(default, option.name)) for option in OPTIONS}
    assert chosen(vars(parser.parse_args([])), default) == default
    assert chosen(vars(parser.parse_args(["--pes", "2"])), default) == Machine(pes=2, context="mem")


def test_the_table_has_every_parameter_of_the_top_module_but_those_of_memory_and_counters() -> None:
    head = (ROOM / "rtl/soc/machine.sv").read_text().partition(") (")[0]
    declared = set(re.findall(r"parameter \w+ (?:unsigned )?(\w+)", head))
    assert declared - {option.parameter for option in OPTIONS} == {"ImemWords", "DmemWords", "Sections"}
    assert {option.parameter for option in OPTIONS} <= declared


@pytest.mark.parametrize(
    ("machine", "what"),
    [
        (Machine(pes=0), "--pes 0"),
        (Machine(pes=65), "--pes 65"),
        (Machine(context="none"), "--context none"),
        (Machine(contexts=3), "--contexts 3"),
        (Machine(dcache=100), "--dcache 100"),
        (Machine(dcache=16), "--dcache 16"),
        (Machine(bus="none"), "--bus none"),
        (Machine(banks=1), "--banks 1"),
        (Machine(threads=100), "--threads 100"),
        (Machine(threads=512), "--threads 512"),
        (Machine(pes=8, threads=8), "--threads 8: 8 PEs want more"),
        (Machine(watches=0), "--watches 0"),
        (Machine(isa="none"), "--isa none"),
        (Machine(scheduler="none"), "--scheduler none"),
    ],
)
def test_a_machine_that_cannot_be_is_refused_by_the_name_of_its_option(machine: Machine, what: str) -> None:
    with pytest.raises(OkosuError) as caught:
        machine.check()
    assert caught.value.status == 2
    assert caught.value.what.startswith(what)


def test_the_least_and_the_most_of_each_option_are_machines() -> None:
    for machine in (
        Machine(pes=1, threads=2, watches=1, banks=2, contexts=2, dcache=32),
        Machine(pes=64, threads=256, watches=64, banks=32, contexts=256, dcache=65536),
    ):
        machine.check()


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("bus", BUSES)
@pytest.mark.parametrize("dcache", [0, 256])
def test_each_instruction_set_has_every_bus_with_and_without_caches(isa: str, bus: str, dcache: int) -> None:
    Machine(isa=isa, bus=bus, dcache=dcache).check()


def test_only_banked_machines_have_several_banks() -> None:
    assert Machine(banks=8).parameters()["Banks"] == 8
    for context in ("soft", "mem", "local"):
        assert Machine(context=context, banks=8).parameters()["Banks"] == 1
