# SPDX-License-Identifier: Apache-2.0
"""The lab's platforms: what can be built and booted, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab import registry
from lab.kernel.build import Built, Recipe
from lab.run import qemu, uml
from lab.run.outcome import Outcome
from okosu.errors import USAGE_ERROR, OkosuError


@dataclass(frozen=True)
class Platform:
    """A platform: what its kernel is built from, and how that is built and booted (see uml.build and uml.run).

    `machine` names the arguments that its run() has beyond those of uml.run().
    """

    name: str
    doc: str
    recipe: Recipe
    build: Callable[..., Built]
    run: Callable[..., Outcome]
    machine: tuple[str, ...] = ()


TABLE = (
    Platform(uml.NAME, uml.DOC, uml.RECIPE, uml.build, uml.run),
    Platform(qemu.NAME, qemu.DOC, qemu.RECIPE, qemu.build, qemu.run, qemu.MACHINE),
)


def find(name: str) -> Platform:
    """Return the platform with a kernel called `name`; OkosuError (2) if there is none."""
    for row in TABLE:
        if row.name == name:
            return row
    known = ", ".join([*(row.name for row in TABLE), *registry.machines()])
    raise OkosuError(f"no platform is called {name!r}", f"the platforms are {known}", "okosu lab --help", USAGE_ERROR)
