# SPDX-License-Identifier: Apache-2.0
"""Asks okosu-run what it would do: the one place that orders CPUs and knows what can be applied to which program."""

from __future__ import annotations

import os
import subprocess

import msgspec

from okosu import native
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError

# A word that no promise is needed for: a value that is asked for by name is the user's own decision.
_PROMISES = {"superpage=hugetlb": ["--no-fork"], "prezero=broker": ["--no-fork"]}


class _Outcome(msgspec.Struct):
    name: str
    applied: bool
    why: str = ""
    fix: str = ""


class _Printed(msgspec.Struct):
    levers: list[_Outcome]
    env: dict[str, str | None] = {}


class Plan(msgspec.Struct, frozen=True):
    """What okosu-run would do for one lever. `env` holds the variables that it would set or unset (null)."""

    applied: bool
    why: str = ""
    fix: str = ""
    env: dict[str, str | None] = {}


def plan(lever: str, value: str, program: str, root: str = "/") -> Plan:
    """Return the plan for one value on the machine below `root`.

    OkosuError with status 2 where there is no such value, 125 where the launcher cannot be asked.
    """
    option = f"{lever}={value}"
    done = subprocess.run(
        [
            native.find("okosu-run"),
            "--dry-run",
            "--json",
            f"--{option}",
            *_PROMISES.get(option.partition(":")[0], []),
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
    return Plan(outcome.applied, outcome.why, outcome.fix, printed.env)


def _refused(option: str, said: str) -> OkosuError:
    parts = dict(line.strip().partition(": ")[::2] for line in reversed(said.splitlines()))
    unknown = "okosu" in parts and option.partition("=")[0] in parts["okosu"]
    return OkosuError(
        parts.get("okosu", f"okosu-run cannot be asked about {option}"),
        parts.get("why", said.strip()),
        parts.get("fix", "okosu-run --help"),
        USAGE_ERROR if unknown else LAUNCHER_FAILED,
    )
