# SPDX-License-Identifier: Apache-2.0
"""What packages outside the lab add to it, by the entry points of the group `okosu.lab`.

Each is a module with commands() (the further sub-commands of `okosu lab`) and machines() (the platforms without a
kernel), each as the protocol Machine says.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Protocol

from okosu import plugins


class Machine(Protocol):
    """A platform of `okosu lab build` and `okosu lab run` that is no kernel."""

    NAME: str
    DOC: str
    EXAMPLES: Mapping[str, str]
    """Lines for the help of `okosu lab build` and `okosu lab run`, by the name of the sub-command."""

    def add_build_arguments(self, parser: argparse.ArgumentParser) -> Any: ...

    def add_run_arguments(self, parser: argparse.ArgumentParser) -> Any:
        """Declare the options of a run, those of a build among them."""

    def refuse(self, args: argparse.Namespace) -> None:
        """Raise OkosuError (2) where an option of this machine is given with another platform."""

    def build(self, args: argparse.Namespace) -> int: ...

    def run(self, args: argparse.Namespace) -> int: ...


def commands() -> list[ModuleType]:
    return [module for added in plugins.load("okosu.lab").values() for module in added.commands()]


def machines() -> dict[str, Machine]:
    return {machine.NAME: machine for added in plugins.load("okosu.lab").values() for machine in added.machines()}


def examples(command: str) -> str:
    """Return the examples that the machines add to those of a sub-command."""
    return "".join(machine.EXAMPLES.get(command, "") for machine in machines().values())
