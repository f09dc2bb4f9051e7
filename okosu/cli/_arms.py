# SPDX-License-Identifier: Apache-2.0
"""The arms that `okosu try` compares beside the levers: other command lines (--vs) and values (--scan)."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from typing import NamedTuple

from okosu.errors import usage
from okosu.trial.arms import filled, has_placeholder


class Scan(NamedTuple):
    """The values of each --scan, base's command line, and the one that was typed if it has a placeholder."""

    values: dict[str, list[str]]
    command: list[str]
    template: list[str]


def versus(texts: Sequence[str]) -> list[list[str]]:
    """The command lines of --vs, as a shell would split them. OkosuError (2) where one cannot be run."""
    found = []
    for text in texts:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise usage(f"--vs {text!r}: {error}", "", "--vs './other --option'") from error
        if not words:
            raise usage("--vs names no program", "", "--vs './other --option'")
        if shutil.which(words[0]) is None:
            raise usage(f"--vs {text!r}: {words[0]} is not a program that can be run", "", "a path, or a name in PATH")
        found.append(words)
    return found


def scan(texts: Sequence[str], command: Sequence[str]) -> Scan:
    """The values of all --scan NAME=v1,v2,… and the command line of base, with the first value of each placeholder.

    A value stands where {NAME} is in the command, or else in the environment. OkosuError (2) for anything else.
    """
    values: dict[str, list[str]] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        if not equals or not rest or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise usage(f"--scan {text!r} is not NAME=VALUE,VALUE…", "", "--scan OMP_NUM_THREADS=1,2,4")
        values.setdefault(name, []).extend(rest.split(","))
    for name, some in values.items():
        twice = [value for i, value in enumerate(some) if value in some[:i]]
        if twice:
            raise usage(f"--scan {name}: {twice[0]!r} stands there twice", "", "each value once")
        if has_placeholder(command, name) and len(some) < 2:
            raise usage(
                f"--scan {name}={some[0]} has one value",
                f"the program with the first value of {{{name}}} is base, and there is nothing to compare it with",
                f"--scan {name}={some[0]},OTHER",
            )
    first = {name: some[0] for name, some in values.items()}
    base = filled(command, first)
    return Scan(values, base, list(command) if base != list(command) else [])
