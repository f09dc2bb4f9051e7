# SPDX-License-Identifier: Apache-2.0
"""The lab's platforms: what can be built and booted, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from okosu.errors import USAGE_ERROR, OkosuError
from okosu.lab import qemu, rtl, uml
from okosu.lab.build import Built, Recipe
from okosu.lab.outcome import Outcome
from okosu.lab.rtl_build import Simulator


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


@dataclass(frozen=True)
class Hardware:
    """A platform that is a machine without a kernel, simulated from its RTL (see rtl.build and rtl.run)."""

    name: str
    doc: str
    build: Callable[..., Simulator]
    run: Callable[..., rtl.Outcome]


TABLE = (
    Platform(uml.NAME, uml.DOC, uml.RECIPE, uml.build, uml.run),
    Platform(qemu.NAME, qemu.DOC, qemu.RECIPE, qemu.build, qemu.run, qemu.MACHINE),
)
HARDWARE = (Hardware(rtl.NAME, rtl.DOC, rtl.build, rtl.run),)


def is_hardware(name: str) -> bool:
    """Say whether the platform called `name` is one without a kernel."""
    return any(row.name == name for row in HARDWARE)


def find(name: str) -> Platform:
    """Return the platform with a kernel called `name`; OkosuError (2) if there is none."""
    for row in TABLE:
        if row.name == name:
            return row
    known = ", ".join(row.name for row in (*TABLE, *HARDWARE))
    raise OkosuError(f"no platform is called {name!r}", f"the platforms are {known}", "okosu lab --help", USAGE_ERROR)
