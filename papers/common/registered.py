# SPDX-License-Identifier: Apache-2.0
"""What the papers add to okosu and to its lab, found by scan of papers/: adding a paper needs no edit here.

papers/NAME/commands/COMMAND.py is a sub-command of `okosu lab`; one of these modules, machine.py, is a platform instead
(lab/registry.py says what each has). papers/NAME/report/parts.py defines parts(envelope, key), which returns what a
report shows of the paper's records. papers/NAME/report/summary.py may define sections(envelope), which returns what a
summary keeps in the place of those parts, and raw(held), which returns Kept of a JSON file of the paper's own (None: it
is another's).
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import papers

if TYPE_CHECKING:
    import msgspec

    from okosu.records.summary import Kept
    from okosu.records.types import BenchFile, ReproduceFile
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


def _of_reports(name: str) -> list[tuple[str, ModuleType]]:
    """Return papers/*/report/NAME.py, imported, each with its paper's folder."""
    return [
        (package.__name__.split(".")[1], importlib.import_module(f"{package.__name__}.{name}"))
        for package in modules("report")
        if any(info.name == name for info in pkgutil.iter_modules(package.__path__))
    ]


def program_folders() -> list[str]:
    """Return the folders below a build tree that hold the papers' benchmarks and listings."""
    found = sorted(path for name in ("bench", "listings") for path in Path(papers.__path__[0]).glob(f"*/{name}"))
    return [f"papers/{path.parent.name}/{path.name}" for path in found if (path / "meson.build").is_file()]


def report_parts(envelope: ReproduceFile, key: str) -> list[Part]:
    """Return what the papers show of the records in a report; `key` begins the ids on the page."""
    return [part for paper, module in _of_reports("parts") for part in module.parts(envelope, f"{key}-{paper}")]


def summarised(held: BenchFile | ReproduceFile | dict[str, Any]) -> Kept:
    """Return what the papers keep in the summary of a records file, or of a JSON file that is a paper's own."""
    from okosu.records.summary import Kept
    from okosu.report import part

    own = _of_reports("summary")
    if isinstance(held, dict):
        found = [module.raw(held) for _, module in own if hasattr(module, "raw")]
        return next((kept for kept in found if kept), Kept([]))
    sections = [section for _, module in own for section in module.sections(held)]
    named = {paper for paper, _ in own}
    for paper, module in _of_reports("parts"):
        if paper not in named:
            sections += [part.section(one) for one in module.parts(held, "s")]
    return Kept(sections)


def formats() -> list[type[msgspec.Struct]]:
    """Return the types of the papers' own files: KINDS of each papers/NAME/formats.py, for okosu.records.schema."""
    return [kind for module in modules("formats") for kind in module.KINDS]
