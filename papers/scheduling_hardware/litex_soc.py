# SPDX-License-Identifier: Apache-2.0
"""A small LiteX system on a chip with the machine in it, simulated whole by Verilator from its pins.

python -m papers.scheduling_hardware.litex_soc [--isa mips1|rv32] [-- PROGRAM.c … [-- ARGUMENT …]]

compiles a program, has LiteX write the system (litex_machine.py: its interconnect, RAM, CSRs and UART around the
machine), and prints what comes over the UART's line. Sources may include generated/csr.h, LiteX's own header of where
its registers are. The exit status is the program's; 125 where it cannot be run. LiteX is not installed with okosu:
pip install litex==2024.12
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import logging
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from lab import cache
from lab.cache import Say, quiet
from lab.cli import _kernel_options
from lab.kernel.build import compiler_version
from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware import ROOM, board, cross_compile, verilator
from papers.scheduling_hardware.machine import ISAS

LITEX = "2024.12"
INSTALL = f"pip install litex=={LITEX}"
CLOCK_HZ, BAUD = 12_500_000, 115200
THREADS, IMEM_WORDS, DMEM_WORDS = 16, 16384, 32768
PROGRAM = board.PROGRAM
_CSRS = 0x9020_0000
_KIND = "rtl-litex"
_TOP = "okosu_soc"
_MAIN = ROOM / "dv/litex/litex_main.cpp"
_FLAGS = {
    "memory": 4 * DMEM_WORDS,
    "stacks": THREADS,
    "stack_log2": 12,
    "main_stack": 4096,
    "clock_hz": CLOCK_HZ,
}
_VERILATOR = ("--cc", "--exe", "--build", "-O3", "--output-split", "4000", "--assert")


@dataclass(frozen=True)
class System:
    """What LiteX wrote: the system in Verilog, the name of the file that its RAM begins with, and its header for C."""

    verilog: str
    memory: str
    header: str


def check_litex() -> str:
    """Return the version of LiteX; OkosuError (125) where it is not installed."""
    try:
        return importlib.metadata.version("litex")
    except importlib.metadata.PackageNotFoundError as error:
        raise OkosuError("LiteX is not installed", "it is not needed but here", INSTALL, LAUNCHER_FAILED) from error


def system(isa: str = ISAS[0]) -> System:
    """Have LiteX write the system; OkosuError (125) where it is not installed."""
    check_litex()
    from litex.build.generic_platform import GenericPlatform, Pins, Subsignal
    from litex.gen import LiteXModule
    from litex.soc.integration.export import get_csr_header
    from litex.soc.integration.soc_core import SoCCore
    from migen import ClockDomain

    from papers.scheduling_hardware import litex_machine

    # LiteX tells a log of all it does.
    logging.disable(logging.INFO)
    pins = [
        ("clk", 0, Pins(1)),
        ("rst", 0, Pins(1)),
        ("serial", 0, Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1))),
        ("ended", 0, Pins(1)),
        ("status", 0, Pins(32)),
    ]
    platform = GenericPlatform("sim", pins, name=_TOP)

    class Clocks(LiteXModule):  # type: ignore[misc]
        def __init__(self) -> None:
            self.cd_sys = ClockDomain()
            self.comb += [
                self.cd_sys.clk.eq(platform.request("clk")),
                self.cd_sys.rst.eq(platform.request("rst")),
            ]

    class SmallSystem(SoCCore):  # type: ignore[misc]
        mem_map: ClassVar[dict[str, int]] = {**SoCCore.mem_map, "csr": _CSRS}

        def __init__(self) -> None:
            self.crg = Clocks()
            none = {"integrated_rom_size": 0, "integrated_sram_size": 0, "with_timer": False}
            super().__init__(platform, CLOCK_HZ, cpu_type=None, uart_baudrate=BAUD, **none)
            # What it begins with is read from a file when the simulation begins.
            self.add_ram("main_ram", litex_machine.DATA_BASE, 4 * DMEM_WORDS, contents=[0])
            machine = litex_machine.add_machine(self, threads=THREADS, imem_words=IMEM_WORDS, isa=ISAS.index(isa))
            self.comb += [
                platform.request("ended").eq(machine.ended),
                platform.request("status").eq(machine.status),
            ]

    soc = SmallSystem()
    soc.finalize()
    written = platform.get_verilog(soc, name=_TOP)
    (memory,) = written.data_files
    header = get_csr_header(soc.csr_regions, soc.constants, with_access_functions=False)
    # The banners have the time.
    return System(re.sub(r"^//.*\n", "", written.main_source, flags=re.MULTILINE), memory, header)


def compile_(words: Sequence[str], folder: Path, header: str, isa: str = ISAS[0], say: Say = quiet) -> Path:
    """Return a program, compiled for the system's memory, stacks and registers; `folder` gets LiteX's header."""
    (folder / "generated").mkdir(parents=True, exist_ok=True)
    (folder / "generated/csr.h").write_text(header)
    wanted = cross_compile.parse(words)
    flags = [f"-Wl,--defsym=__okosu_{name}={value}" for name, value in _FLAGS.items()]
    given = cross_compile.Command(wanted.sources, (*wanted.flags, f"-I{folder}", *flags), wanted.arguments)
    return cross_compile.compile_(given, cross_compile.BACKENDS[0], say, isa)


def simulator(made: System, say: Say = quiet) -> Path:
    """Return the system's simulator, in which our RTL's assertions are evaluated; built where the cache has none."""
    verilator.check_tools({"verilator": "verilator", "make": "make", "g++": "g++"})
    words = ["verilator", *_VERILATOR, "--x-assign", "fast", "--x-initial", "fast", "--top-module", _TOP]
    # The lint of what LiteX writes is LiteX's.
    words += ["-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-TIMESCALEMOD", '-DOKOSU_TEXT="text.hex"']
    words += ["-CFLAGS", f"-std=c++17 -O2 -DOKOSU_CLOCK_HZ={CLOCK_HZ} -DOKOSU_BAUD={BAUD}"]
    ours = [*board.sources(), _MAIN, ROOM / "dv/board/uart_receiver.h"]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in ours]
    key = cache.key(words, made.verilog, digests, compiler_version("verilator"), compiler_version("g++"))

    def fill(to: Path) -> None:
        say("building the simulator of the LiteX system")
        (to / f"{_TOP}.v").write_text(made.verilog)
        sources = ["-F", str(ROOM / "files.f"), "-F", str(ROOM / "board.f"), f"{_TOP}.v", str(_MAIN)]
        verilator.compile_into(to, "litex", [*words, *sources], "the system")

    return cache.made(_KIND, key, fill, say) / "litex"


def simulate(words: Sequence[str], isa: str = ISAS[0], say: Say = quiet) -> subprocess.CompletedProcess[bytes]:
    """Compile a program and run it in the system: what came over the serial line, and how it ended."""
    made = system(isa)
    built = simulator(made, say)
    with tempfile.TemporaryDirectory(prefix="okosu-litex-") as scratch:
        folder = Path(scratch)
        program = compile_(words, folder, made.header, isa, say)
        memory = board.images(IMEM_WORDS, DMEM_WORDS, program)
        board.write(folder, {"text.hex": memory["text.hex"], made.memory: memory["data.hex"]})
        return subprocess.run([built], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def main(arguments: Sequence[str]) -> int:
    """Run a program in the system; return its status."""
    parser = argparse.ArgumentParser(
        prog="litex_soc", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--isa", choices=ISAS, default=ISAS[0])
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- PROGRAM")
    asked = parser.parse_args(arguments)
    words = asked.command[1:] if asked.command[:1] == ["--"] else asked.command
    try:
        with _kernel_options.progress() as say:
            done = simulate(words or PROGRAM, asked.isa, say)
    except OkosuError as error:
        print(error, file=sys.stderr)
        return LAUNCHER_FAILED
    sys.stdout.write(done.stdout.decode(errors="replace"))
    sys.stderr.write(done.stderr.decode(errors="replace"))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
