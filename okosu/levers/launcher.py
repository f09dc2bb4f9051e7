# SPDX-License-Identifier: Apache-2.0
"""Asks okosu-run which levers there are, what their properties are, and what it would do to a program."""

from __future__ import annotations

import functools
import os
import subprocess

import msgspec

from okosu import native
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError, told


class Value(msgspec.Struct, frozen=True):
    """One value of a lever; a part in capitals stands for a parameter ("list:CPUS")."""

    value: str
    doc: str
    preload: bool
    """It works by way of the preload library, where the program can load that."""
    no_fork: bool
    """It is refused without --no-fork, the user's word that the program does not fork."""


class Facts(msgspec.Struct, frozen=True):
    """One row of the launcher's table."""

    name: str
    doc: str
    default: str
    values: list[Value]
    library: str | None
    """The library that has its hooks."""
    variables: list[str]
    """All that it may set in the program's environment."""
    excludes: list[str]
    """Levers that it cannot be applied together with."""
    observes: list[str]
    """What okosu-measure must look at for the proof, beyond memory: "threads", "numa", "files"."""

    def value(self, given: str) -> Value | None:
        """The row of which `given` is a value: "list:0-3" is one of "list:CPUS"."""
        for row in self.values:
            word, colon, _ = row.value.partition(":")
            if given.startswith(word + colon) if colon else given == row.value:
                return row
        return None


class _Table(msgspec.Struct):
    levers: list[Facts]


@functools.cache
def table() -> dict[str, Facts]:
    """Every lever's row by name, in the order in which okosu-run applies them.

    OkosuError (125) where the launcher is missing or prints something else.
    """
    launcher = native.find("okosu-run")
    done = subprocess.run([launcher, "--describe"], capture_output=True, check=False)
    try:
        return {facts.name: facts for facts in msgspec.json.decode(done.stdout, type=_Table).levers}
    except msgspec.DecodeError as error:
        why = f"it is of another version: {error}"
        raise OkosuError(f"{launcher} does not describe its levers", why, "make build", LAUNCHER_FAILED) from None


def options(lever: str, value: str) -> list[str]:
    """The options besides --LEVER=VALUE that okosu-run demands for the value.

    They make the user confirm that the program does not fork. Here they are added: `okosu try` offers such a value by
    itself only after a run showed no fork, and otherwise the user asked for it by name.
    """
    facts = table().get(lever)
    row = facts.value(value) if facts else None
    return ["--no-fork"] if row and row.no_fork else []


class _Outcome(msgspec.Struct):
    name: str
    applied: bool
    why: str = ""
    fix: str = ""


class _Printed(msgspec.Struct):
    levers: list[_Outcome]
    env: dict[str, str | None] = {}
    text: list[str] = []


class Plan(msgspec.Struct, frozen=True):
    """What okosu-run would do for one lever. `env` holds the variables that it would set or unset (null), `text` the
    files whose code it would bring onto huge pages.
    """

    applied: bool
    why: str = ""
    fix: str = ""
    env: dict[str, str | None] = {}
    text: list[str] = []


def plan(lever: str, value: str, program: str, root: str = "/") -> Plan:
    """The plan for one value on the machine below `root`.

    OkosuError with status 2 where there is no such value, 125 where the launcher cannot be asked.
    """
    option = f"{lever}={value}"
    done = subprocess.run(
        [
            native.find("okosu-run"),
            "--dry-run",
            "--json",
            f"--{option}",
            *options(lever, value),
            "--",
            program,
        ],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, "OKOSU_ROOT": root},
    )
    try:
        printed = msgspec.json.decode(done.stdout, type=_Printed)
        outcome = next(o for o in printed.levers if o.name == lever)
    except (msgspec.DecodeError, StopIteration):
        raise _refused(option, done.stderr) from None
    return Plan(outcome.applied, outcome.why, outcome.fix, printed.env, printed.text)


def _refused(option: str, said: str) -> OkosuError:
    parts = told(said)
    unknown = "okosu" in parts and option.partition("=")[0] in parts["okosu"]
    return OkosuError(
        parts.get("okosu", f"okosu-run cannot be asked about {option}"),
        parts.get("why", said.strip()),
        parts.get("fix", "okosu-run --help"),
        USAGE_ERROR if unknown else LAUNCHER_FAILED,
    )
