# SPDX-License-Identifier: Apache-2.0
"""What the papers add to okosu and to its lab, found by scan of papers/: adding a paper needs no edit here.

papers/NAME/commands/COMMAND.py is a sub-command of `okosu lab`; one of these modules, machine.py, is a platform instead
(lab/registry.py says what each has). papers/NAME/report/parts.py defines parts(envelope, key), which returns what a
report shows of the paper's records.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TYPE_CHECKING

import papers

if TYPE_CHECKING:
    from okosu.records.types import Envelope
    from okosu.report.part import Part

MACHINE = "machine"


def modules(name: str) -> list[ModuleType]:
    """Return papers/*/NAME.py or papers/*/NAME/, imported, in alphabetical order of the papers."""
    found = []
    for paper in sorted(pkgutil.iter_modules(papers.__path__), key=lambda info: info.name):
        inside = importlib.import_module(f"papers.{paper.name}")
        if any(info.name == name for info in pkgutil.iter_modules(inside.__path__)):
            found.append(importlib.import_module(f"papers.{paper.name}.{name}"))
    return found


def _commands(machine: bool) -> list[ModuleType]:
    return [
        importlib.import_module(f"{package.__name__}.{info.name}")
        for package in modules("commands")
        for info in pkgutil.iter_modules(package.__path__)
        if (info.name == MACHINE) is machine and not info.name.startswith("_")
    ]


def commands() -> list[ModuleType]:
    """Return the papers' sub-commands of `okosu lab`."""
    return _commands(machine=False)


def machines() -> list[ModuleType]:
    """Return the papers' platforms without a kernel."""
    return _commands(machine=True)


def report_parts(envelope: Envelope, key: str) -> list[Part]:
    """Return what the papers show of the records in a report; `key` begins the ids on the page."""
    found: list[Part] = []
    for package in modules("report"):
        module = importlib.import_module(f"{package.__name__}.parts")
        found += module.parts(envelope, f"{key}-{package.__name__.split('.')[1]}")
    return found
