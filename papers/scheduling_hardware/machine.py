# SPDX-License-Identifier: Apache-2.0
"""The options of the simulated machine, in one table.

Each field of Machine is a row: its default, how it is typed and described, which values it has, what is said of a wrong
one, and which parameter of the top module and which macro of the simulator's C++ it sets. Command-line options, checks,
Verilator's words, axes of sweeps and JSON are all read off these rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from okosu.errors import USAGE_ERROR, OkosuError

CONTEXTS = ("soft", "mem", "local", "banked")
BUSES = ("multiplexed", "pipelined", "wishbone")
ISAS = ("mips1", "rv32")
SCHEDULERS = ("direct", "staged")
MOST_PES = 64
IMEM_WORDS = 65536
DMEM_WORDS = 1048576


@dataclass(frozen=True)
class Option:
    """A row: `values` are the names it has (and their numbers in the RTL), none where it is a number itself; `valid`
    judges a number; `wrong` is what is said of a value that it has not."""

    name: str
    default: int | str
    metavar: str
    help: str
    wrong: str
    parameter: str
    macro: str = ""
    values: tuple[str, ...] = ()
    valid: Callable[[int], bool] = bool

    def read(self, text: str) -> int | str:
        """Return the value that was typed; ValueError where it should be a number and is none."""
        return text if self.values else int(text)

    def accepts(self, value: Any) -> bool:
        return value in self.values if self.values else self.valid(value)

    def number(self, value: Any) -> int:
        """Return the value as the RTL has it."""
        return self.values.index(value) if self.values else int(value)


def _option(default: int | str, **row: Any) -> Any:
    return field(default=default, metadata=row)


def _within(least: int, most: int) -> Callable[[int], bool]:
    return lambda value: least <= value <= most


def _power(least: int, most: int, zero: bool = False) -> Callable[[int], bool]:
    """Accept powers of two between two of them, and 0 if it is said so."""
    return lambda value: (zero and value == 0) or (least <= value <= most and not value & (value - 1))


@dataclass(frozen=True)
class Machine:
    """What is simulated; OPTIONS says what each field is."""

    pes: int = _option(
        8,
        metavar="N",
        help=f"processing elements, 1 to {MOST_PES}",
        wrong=f"a machine has 1 to {MOST_PES} PEs",
        parameter="NumPes",
        macro="OKOSU_PES",
        valid=_within(1, MOST_PES),
    )
    context: str = _option(
        "banked",
        metavar="WHERE",
        help="contexts of threads: soft, mem, local or banked",
        wrong=f"contexts are kept in {', '.join(CONTEXTS)}",
        parameter="Context",
        macro="OKOSU_CONTEXT",
        values=CONTEXTS,
    )
    banks: int = _option(
        4,
        metavar="B",
        help="register banks of a PE, where banked",
        wrong="a PE has 2 to 32 banks",
        parameter="Banks",
        valid=_within(2, 32),
    )
    threads: int = _option(
        256,
        metavar="N",
        help="thread ids, a power of two up to 256",
        wrong="the number of thread ids is a power of two from 2 to 256",
        parameter="Threads",
        valid=_power(2, 256),
    )
    watches: int = _option(
        16,
        metavar="N",
        help="memory words that the scheduler can watch",
        wrong="there are 1 to 64 watches",
        parameter="Watches",
        valid=_within(1, 64),
    )
    contexts: int = _option(
        16,
        metavar="N",
        help="contexts in a PE's own memory, where local",
        wrong="a PE's own memory has room for a power of two from 2 to 256 contexts",
        parameter="Contexts",
        valid=_power(2, 256),
    )
    dcache: int = _option(
        0,
        metavar="BYTES",
        help="data cache of each PE; 0: none",
        wrong="a cache has a power of two from 32 to 65536 bytes, or 0: there is none",
        parameter="DcacheBytes",
        macro="OKOSU_DCACHE",
        valid=_power(32, 65536, zero=True),
    )
    bus: str = _option(
        BUSES[0],
        metavar="KIND",
        help="memory bus: multiplexed, pipelined or wishbone",
        wrong=f"the memory bus is {', '.join(BUSES[:-1])} or {BUSES[-1]}",
        parameter="Pipelined",
        values=BUSES,
    )

    isa: str = _option(
        ISAS[0],
        metavar="SET",
        help="instruction set of the PEs: mips1 or rv32",
        wrong=f"the instruction set is {' or '.join(ISAS)}",
        parameter="Isa",
        macro="OKOSU_RV32",
        values=ISAS,
    )
    scheduler: str = _option(
        SCHEDULERS[0],
        metavar="HOW",
        help="SSH-m does an action in one cycle (direct), or for a higher clock in three (staged)",
        wrong=f"the scheduler is {' or '.join(SCHEDULERS)}",
        parameter="Staged",
        values=SCHEDULERS,
    )

    def having(self, name: str, text: str) -> Machine:
        """Return this machine with an option as it was typed; ValueError where it should be a number and is none."""
        return Machine(**{**asdict(self), name: BY_NAME[name].read(text)})

    def check(self) -> None:
        """Raise OkosuError (2) where there is no such machine."""
        wrong = [
            f"--{option.name} {value}: {option.wrong}"
            for option in OPTIONS
            if not option.accepts(value := getattr(self, option.name))
        ]
        if self.threads <= self.pes:
            wrong.append(f"--threads {self.threads}: {self.pes} PEs want more thread ids than there are of them")
        if wrong:
            raise OkosuError(wrong[0], "", "okosu lab run --help", USAGE_ERROR)

    @property
    def numbers(self) -> dict[str, int]:
        """Return what the RTL is told, by option; only banked machines have more than one bank."""
        found = {option.name: option.number(getattr(self, option.name)) for option in OPTIONS}
        return found if self.context == "banked" else {**found, "banks": 1}

    def parameters(self, *names: str) -> dict[str, int]:
        """Return the parameters of the top module for these options, for all where none is named."""
        return {option.parameter: self.numbers[option.name] for option in OPTIONS if not names or option.name in names}

    def macros(self) -> dict[str, int]:
        """Return the macros by which the simulator's C++ knows the machine."""
        return {option.macro: self.numbers[option.name] for option in OPTIONS if option.macro}


OPTIONS = tuple(Option(name=one.name, default=getattr(Machine, one.name), **one.metadata) for one in fields(Machine))
BY_NAME = {option.name: option for option in OPTIONS}


def add_arguments(parser: argparse.ArgumentParser, default: Machine | None = None) -> None:
    """Declare the options of a machine; one that is not given is None, and chosen() puts that of `default` there."""
    add = parser.add_argument_group("machine (rtl)").add_argument
    for option in OPTIONS:
        shown = f"{option.help} (default {getattr(default or Machine(), option.name)})"
        add(f"--{option.name}", type=str if option.values else int, metavar=option.metavar, help=shown)


def chosen(given: Mapping[str, Any], default: Machine | None = None) -> Machine:
    """Return the machine of the parsed options, with the values of `default` where none was given. It is not
    checked."""
    typed = {option.name: given[option.name] for option in OPTIONS if given[option.name] is not None}
    return replace(default or Machine(), **typed)
