# SPDX-License-Identifier: Apache-2.0
"""Reads the file of a recipe, and says of a wrong one which key is wrong and what it should be."""

from __future__ import annotations

import functools
import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from okosu.errors import usage
from okosu.recipes import values
from okosu.records.recipe import Joined, Proofs, RecipeFile, Said

HOWTO = "docs/howto/add-a-recipe.md has every key"
_MOST_BYTES = 1 << 20
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_CONDITION = re.compile(r"[A-Za-z_]\w*(=.*)?", re.DOTALL)
_ABSOLUTE = re.compile(r"~?/(?!.*\*\*)[^\0]*[^\0/]")
_VALUE_NAME = re.compile(r"[\w.+:-]+")


def load(path: Path) -> RecipeFile:
    """The recipe in a file. OkosuError (2) that names the file and the key where it is none."""
    try:
        found = path.stat()
        return _load(path, found.st_mtime_ns, found.st_size)
    except OSError as error:
        raise usage(f"{path} cannot be read", error.strerror or "", "its permissions") from error


@functools.lru_cache(256)
def _load(path: Path, _changed: int, _size: int) -> RecipeFile:
    # A command asks for the recipes several times, and reading TOML is slow.
    data = path.read_bytes()[:_MOST_BYTES]
    try:
        return parse(data, path.stem)
    except WrongError as wrong:
        raise usage(f"{path} is no recipe: {wrong}", "", HOWTO) from None


def parse(data: bytes, stem: str) -> RecipeFile:
    """The recipe in the text of a file whose name without .toml is `stem`. WrongError where it is none."""
    try:
        made = msgspec.convert(tomllib.loads(data.decode()), RecipeFile)
    except UnicodeDecodeError:
        raise WrongError("it is not UTF-8") from None
    except RecursionError:
        raise WrongError("its tables lie too deep") from None
    except msgspec.ValidationError as error:
        text, at, key = str(error).partition(" - at `$.")
        raise WrongError(f"{key.rstrip('`')}: {text}" if at else text) from None
    except ValueError as error:
        raise WrongError(f"it is not TOML: {error}") from None
    _check(made, stem)
    return made


class WrongError(Exception):
    """What is wrong with a recipe, worded for a person, with the key in front."""


def _demand(holds: object, why: str) -> None:
    if not holds:
        raise WrongError(why)


def _check(made: RecipeFile, stem: str) -> None:
    """What the types do not say."""
    _demand(made.name == stem, f"name: it is {made.name!r}, and the file is called {stem}.toml")
    _demand(made.hazard or made.changes == "nothing", f"hazard: it changes {made.changes}, and has to say how")
    _demand(not made.hazard or made.changes != "nothing", "hazard: it changes nothing, so there is none")
    _demand(math.isfinite(made.likely), "likely: it is no number from 0 to 1")
    _demand(made.name not in made.excludes, "excludes: it names itself")
    asked = made.recognise
    by = (asked.names, asked.needed, asked.sections, asked.symbols, asked.mapped, asked.heaps_mib)
    which = "names, needed, sections, symbols, mapped or heaps_mib"
    _demand(any(by), f"recognise: {which} has to say which programs it is for")
    for condition in asked.set:
        _demand(
            "=" in condition and _CONDITION.fullmatch(condition), f"recognise.set: {condition!r} is not NAME=PATTERN"
        )
    for condition in asked.unless:
        _demand(_CONDITION.fullmatch(condition), f"recognise.unless: {condition!r} is neither NAME nor NAME=PATTERN")
    for symbol in asked.symbols:
        _demand(symbol.strip("*?"), f"recognise.symbols: {symbol!r} fits every name")
    for one in asked.excepted:
        _demand(one.names or one.symbols, "recognise.excepted: names or symbols has to say which programs")
        for symbol in one.symbols:
            _demand(symbol.strip("*?"), f"recognise.excepted.symbols: {symbol!r} fits every name")
    _check_values(made)
    _check_proofs(made)


def _check_values(made: RecipeFile) -> None:
    names = [value.name for arm in made.arm for value in arm.value]
    for name in names:
        _demand(_VALUE_NAME.fullmatch(name), f"arm.value.name: {name!r} holds more than letters, digits and . + : _ -")
        _demand(names.count(name) == 1, f"arm.value.name: {name!r} stands there twice")
    for arm in made.arm:
        for value in arm.value:
            where = f"arm.value {value.name}"
            allowed = values.NAMES | {"here"} | ({"library", "folder"} if value.needs else set())
            _check_env(value.env, f"{where}: env", allowed | ({"kept"} if value.prepare else set()))
            _check_env(value.prepare, f"{where}: prepare", {"here", "kept"})
            for env in (value.env, value.prepare) if value.prepare else ():
                _demand(_places(env, "kept"), f"{where}: env and prepare have to name the file {{kept}}")
            _demand(bool(value.needs) == bool(value.install), f"{where}: needs and install go together")
            for pattern in value.needs:
                _demand(_ABSOLUTE.fullmatch(pattern), f"{where}: needs: {pattern!r} is no absolute path of one file")
            _demand(not value.when or values.condition(value.when), f"{where}: when: {value.when!r} is not A < B")


def _check_env(env: Mapping[str, str | Joined], where: str, allowed: set[str]) -> None:
    for name, text in env.items():
        _demand(_VARIABLE.fullmatch(name), f"{where}: {name!r} is no name of a variable")
        _demand(not name.startswith("OKOSU_"), f"{where}: {name} is okosu's own")
        parts = [text] if isinstance(text, str) else [text.append, text.prepend]
        _demand(any(parts) or isinstance(text, str), f"{where}: {name}: neither append nor prepend")
        for part in parts:
            _demand("\0" not in part, f"{where}: {name} holds a NUL")
            unknown = [placed for placed in values.placeholders(part) if placed not in allowed]
            why = f"is not known; there are {', '.join(sorted(allowed))}"
            _demand(not unknown, f"{where}: {name}: {{{next(iter(unknown), '')}}} {why}")


def _places(env: Mapping[str, str | Joined], name: str) -> bool:
    texts = [text if isinstance(text, str) else text.append + text.prepend for text in env.values()]
    return any(f"{{{name}}}" in text for text in texts)


def _check_proofs(made: RecipeFile) -> None:
    every = [value for arm in made.arm for value in arm.value]
    if any(value.proof is None for value in every) or made.proof != Proofs():
        _check_proof(made.proof)
    for value in every:
        if value.proof is not None:
            # Pilots of all values and of base are made with the same variables.
            _demand(
                value.proof.said is None, f"arm.value {value.name}: proof.said: only the recipe's proof may have it"
            )
            _check_proof(value.proof)


def _check_proof(proof: Proofs) -> None:
    named = proof.thread_names and (proof.thread_names.absent or proof.thread_names.present)
    _demand(not proof.thread_names or named, "proof.thread_names: neither absent nor present")
    counts = (proof.threads, proof.faults, proof.switches, proof.processes, proof.at_once, proof.heaps)
    some = (proof.mapped, proof.unmapped, named, *counts)
    _demand(any(some) or proof.said, "proof: it has to say what shows that a value took effect")
    if proof.said is not None:
        _check_said(proof.said)


def _check_said(said: Said) -> None:
    _demand(bool(said.stderr) != bool(said.file), "proof.said: either stderr or file has the pattern")
    try:
        re.compile(said.stderr or said.file)
    except (re.error, RecursionError, OverflowError) as error:
        raise WrongError(f"proof.said: the pattern does not compile: {error}") from None
    _check_env(said.env, "proof.said: env", {"here", "file"} if said.file else {"here"})
    _demand(not said.file or _places(said.env, "file"), "proof.said: no variable holds {file}")
