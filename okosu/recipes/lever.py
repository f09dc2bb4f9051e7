# SPDX-License-Identifier: Apache-2.0
"""A recipe as a lever: which of its values can be tried, the variables of each, and the proof of its effect."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from okosu.errors import usage
from okosu.levers.base import Availability, Lever
from okosu.machine import elf
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.recipes import proofs, recognise, values
from okosu.records import files
from okosu.records.measurement import Measurement
from okosu.records.recipe import RecipeFile, Value
from okosu.records.types import Proof

LIBRARY = "LD_PRELOAD"


@dataclass(frozen=True)
class Lacking:
    """What a recipe lacks: why, the line to type ("" where none helps), and the value that needs it ("": all)."""

    why: str
    fix: str = ""
    value: str = ""


class Recipe(Lever):
    """One recipe. `path` is its file."""

    def __init__(self, file: RecipeFile, path: Path) -> None:
        self.file, self.path = file, path
        self.name, self.likely, self.doc = file.name, file.likely, file.doc
        self.changes = {} if file.changes == "nothing" else {file.changes: file.hazard}

    @functools.cached_property
    def excludes(self) -> frozenset[str]:
        return frozenset(self.file.excludes)

    @functools.cached_property
    def observes(self) -> frozenset[str]:
        every = [self.file.proof, *(value.proof for arm in self.file.arm for value in arm.value if value.proof)]
        asked = self.file.recognise.mapped or self.file.recognise.heaps_mib
        files = asked or any(proof.mapped or proof.unmapped or proof.heaps for proof in every)
        threads = any(proof.threads or proof.thread_names for proof in every)
        return frozenset(["files"] * bool(files) + ["threads"] * threads)

    def matches(self, program: Program, base: Measurement | None) -> bool:
        """Say whether the recipe is for this program in this environment. A run of base, where it was seen what that
        mapped, shows also what the program starts: a pipeline of a shell is its programs.
        """
        return recognise.by_variables(self.file.recognise, os.environ) and self._fits(program, base)

    def _excepted(self, program: Program, base: Measurement | None) -> str:
        """Why the recipe would harm the program, or what that starts; "" where nothing is known of it."""
        seen = [recognise.seen(tuple(base.files))] if base is not None and base.files else []
        return recognise.excepted(self.file.recognise, [recognise.facts(program), *seen])

    def harm(self, program: Program) -> str:
        """Why a program that the recipe is for by its files is left out: it is known to be harmed. "" else."""
        asked = recognise.by_variables(self.file.recognise, os.environ) and self._is_for(program, None)
        return self._excepted(program, None) if asked else ""

    def _fits(self, program: Program, base: Measurement | None) -> bool:
        return self._is_for(program, base) and not self._excepted(program, base)

    def _is_for(self, program: Program, base: Measurement | None) -> bool:
        asked, facts = self.file.recognise, recognise.facts(program)
        if base is None or not base.files:
            return recognise.expected(asked, facts)
        seen = recognise.seen(tuple(base.files))
        matched = recognise.by_files(asked, facts) or recognise.by_files(asked, seen)
        seen_there = recognise.by_mapped(asked, base.files)
        return matched and seen_there and recognise.by_heaps(asked, base.heaps, base.heaps_kb)

    def needs(self, machine: Machine) -> Availability:
        """Always available; what a value needs depends on the program, too."""
        return Availability(True)

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """The arms by their values' names; of values that come to the same variables the first alone."""
        if not self.matches(program, base):
            return []
        arms, seen = [], list[dict[str, str]]()
        for arm in self.file.arm:
            names = []
            for value in arm.value:
                if self._missing(value, program) or not self._differs(value, machine, program):
                    continue
                if base is not None and value.proof and recognise.fits(base.files, value.proof.mapped):
                    continue
                env = self.variables(value.name, machine, program)
                if env not in seen:
                    seen.append(env)
                    names.append(value.name)
            if names:
                arms.append(names)
        return arms

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """Why there is nothing to try; with what to install, where that is all that lacks."""
        asked = self.file.recognise
        if not recognise.by_variables(asked, os.environ):
            return Availability(False, "the variables of the environment leave nothing to try")
        if base is not None and base.files and not recognise.by_mapped(asked, base.files):
            return Availability(False, f"the program maps none of {', '.join(asked.mapped)}")
        if base is not None and base.files and not recognise.by_heaps(asked, base.heaps, base.heaps_kb):
            why = f"{base.heaps_kb >> 10} MiB lie in {base.heaps} heaps of arenas: threads take hardly any by malloc"
            return Availability(False, why)
        if not self._fits(program, base):
            other = f"{program.path} is none of the programs that this recipe is for"
            return Availability(False, self._excepted(program, base) or other)
        if lacking := self.lacking(machine, program):
            return Availability(False, lacking[0].why, lacking[0].fix)
        return Availability(False, "on this machine the program does the same by itself")

    def lacking(self, machine: Machine, program: Program) -> list[Lacking]:
        """Of each value that could be tried, but for files that are not there: what lacks, and the line to type.
        Nothing could be tried on a program that would be harmed, and why is all that is said.
        """
        if why := self._excepted(program, None):
            return [Lacking(why)]
        found = []
        for arm in self.file.arm:
            for value in arm.value:
                if self._missing(value, program) and self._differs(value, machine, program):
                    why = f"{value.name}: there is no {' or '.join(value.needs)} for this program"
                    found.append(Lacking(why, value.install, value.name))
        return found

    def suits(self, value: str, machine: Machine, program: Program) -> Availability:
        """Whether a value that the user named can be applied, whatever the program, unless it is known to be harmed.
        OkosuError (2) where there is none of that name.
        """
        named = self._value(value)
        if why := self._excepted(program, None):
            return Availability(False, why)
        if self._missing(named, program):
            why = f"there is no {' or '.join(named.needs)} for this program"
            return Availability(False, why, named.install)
        if LIBRARY in named.env and not program.preloadable:
            return Availability(False, program.why or "no library can be loaded into it")
        return Availability(True)

    def loads_preload(self, value: str, program: Program) -> bool:
        """Never: the library that a recipe loads is not okosu's, and has no inert form to be compared with."""
        return False

    def variables(self, value: str, machine: Machine, program: Program) -> dict[str, str]:
        """What the program finds in its environment."""
        named = self._value(value)
        library = self._library(named, program)
        places = {"library": library, "folder": str(Path(library).parent), "here": self._here}
        if named.prepare:
            places["kept"] = str(self.kept(value, program))
        known: dict[str, object] = {**values.computed(machine), **places}
        return values.filled(named.env, known, os.environ)

    def kept(self, value: str, program: Program) -> Path:
        """The file that a run prepares for this value, of this command line in this folder."""
        said = msgspec.json.encode([program.path, program.command, str(Path.cwd())])
        key = hashlib.blake2b(said, digest_size=10).hexdigest()
        return files.cache_folder() / "kept" / f"{self.name}-{value}-{key}"

    def prepared(self, value: str, program: Program) -> list[Path]:
        """The file that `kept` names, in a list, where the value needs one; else none."""
        return [self.kept(value, program)] if self._value(value).prepare else []

    def preparing(self, value: str, file: Path) -> dict[str, str]:
        """The variables of the run that makes `file`."""
        known = {"kept": str(file), "here": self._here}
        return values.filled(self._value(value).prepare, known, os.environ)

    def listening(self, env: dict[str, str], file: str) -> dict[str, str]:
        """The variables `env` of an arm, and those under which the runtime says what it does; into `file`, where the
        recipe wants one. Just `env` where the proof takes no word of the runtime.
        """
        said = self.file.proof.said
        known = {"file": file, "here": self._here}
        return env | values.filled(said.env, known, {**os.environ, **env}) if said else env

    @property
    def listens(self) -> bool:
        """Say whether pilot runs are to be made with what `listening` returns."""
        return self.file.proof.said is not None

    def heard(self, stderr: str, file: str, most: int) -> int | None:
        """How often the runtime said what the proof looks for, or the sum of the numbers that it named; None where that
        is to be compared and the text may not be whole, since no more than `most` bytes are read.
        """
        said = self.file.proof.said
        assert said is not None
        text = stderr if said.stderr else file
        if said.matches and len(text.encode()) >= most:
            return None
        pattern = re.compile(said.stderr or said.file, re.MULTILINE)
        found = pattern.finditer(text)
        if said.matches and pattern.groups:
            return sum(int(match[1]) for match in found if match[1] and match[1].isdecimal())
        return sum(1 for _ in found)

    def convinces(self, heard: int | None, base: int | None) -> bool:
        """Say whether this proves the value, by what was heard of the arm and of base."""
        said = self.file.proof.said
        assert said is not None
        if heard is None or base is None:
            return False
        return proofs.differs(said.matches, heard, base) if said.matches else heard > 0

    def says_the_same(self, base: int | None) -> bool:
        """Say whether the runtime says of base what should tell the value."""
        said = self.file.proof.said
        return said is not None and not said.matches and bool(base)

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        return proofs.judge(self._value(value).proof or self.file.proof, run, base, pilot)

    @property
    def _here(self) -> str:
        return str(self.path.resolve().parent)

    def _value(self, name: str) -> Value:
        every = [value for arm in self.file.arm for value in arm.value]
        for value in every:
            if value.name == name:
                return value
        takes = ", ".join(value.name for value in every)
        what, fix = f"{self.name}={name}: there is no such value", f"--levers {self.name}={every[0].name}"
        raise usage(what, f"{self.name} takes {takes}", fix)

    def _differs(self, value: Value, machine: Machine, program: Program) -> bool:
        """Say whether the value can do something that base does not, and its variables reach the program."""
        if not values.holds(value.when, values.computed(machine)) or (LIBRARY in value.env and not program.preloadable):
            return False
        env = self.variables(value.name, machine, program)
        return any(os.environ.get(name) != text for name, text in env.items())

    def _missing(self, value: Value, program: Program) -> bool:
        return bool(value.needs) and not self._library(value, program)

    def _library(self, value: Value, program: Program) -> str:
        """The first file that the value needs and that this program can load; "" where there is none."""
        return _first(tuple(value.needs), elf.kind(recognise.facts(program).image))


@functools.lru_cache(256)
def _first(patterns: Sequence[str], of: bytes) -> str:
    for pattern in patterns:
        # Without a home the pattern stays as it is, and fits nothing.
        at_home = os.path.expanduser(pattern)  # noqa: PTH111
        for path in sorted(Path("/").glob(at_home.lstrip("/"))):
            # What is no ELF file (a folder of settings, a script) is for every program.
            if elf.kind(path) in (b"", of):
                return str(path)
    return ""
