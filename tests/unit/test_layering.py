# SPDX-License-Identifier: Apache-2.0
"""Imports run one way: papers → lab → okosu, and inside okosu a package imports only what lies below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import okosu

ROOT = Path(okosu.__file__).resolve().parents[1]
LEVEL = {
    "papers": 8,
    "lab": 7,
    "cli": 6,
    "report": 5,
    "trial": 4,
    "bench": 4,
    "cluster": 4,
    "recipes": 3,
    "levers": 2,
    "machine": 1,
    "records": 1,
    "stats": 1,
    "errors": -1,
    "native": 0,
    "plugins": -1,
}
"""Rooms of the checkout, and packages of okosu; none imports a sibling of its own level."""


def room(name: str) -> str:
    """The room or package in which a dotted name lies; "" for names from outside the project."""
    parts = name.split(".")
    if parts[0] == "okosu":
        return parts[1] if len(parts) > 1 and parts[1] in LEVEL else ""
    return parts[0] if parts[0] in ("lab", "papers") else ""


def imported(text: str) -> Iterator[str]:
    """Yield the dotted names that a module imports, at any place in it."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def against_the_rule(name: str, text: str) -> list[str]:
    """The imports of the module `name` that break the rule.

    A paper imports no other paper, except papers/common, which itself imports no paper.
    """
    own = room(name)
    found = []
    for other in imported(text):
        of = room(other)
        if of and of != own and LEVEL[of] >= LEVEL[own]:
            found.append(other)
        if own == of == "papers":
            paper, its = name.split(".")[1], [*other.split("."), ""][1]
            if its not in (paper, "common", ""):
                found.append(other)
    return found


def modules() -> list[tuple[str, Path]]:
    """Every module of the rooms by its dotted name, without the tests."""
    paths = [path for top in ("okosu", "lab", "papers") for path in sorted((ROOT / top).glob("**/*.py"))]
    names = [(".".join(path.relative_to(ROOT).with_suffix("").parts), path) for path in paths]
    return [(name, path) for name, path in names if room(name) and ".tests." not in name]


@pytest.mark.parametrize(("name", "path"), modules(), ids=lambda one: one if isinstance(one, str) else "")
def test_a_module_imports_only_what_lies_below_it(name: str, path: Path) -> None:
    assert against_the_rule(name, path.read_text()) == []


def test_the_products_tests_import_nothing_of_the_other_rooms() -> None:
    paths = sorted((ROOT / "tests").rglob("*.py"))
    assert len(paths) > 80
    found = [(path.name, name) for path in paths for name in imported(path.read_text())]
    assert [one for one in found if room(one[1]) in ("lab", "papers")] == []


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("okosu.trial.rounds", "from okosu.report import page"),
        ("okosu.trial.rounds", "from okosu.bench import rows"),
        ("okosu.levers.base", "from okosu import recipes"),
        ("okosu.cli.report", "def run():\n    from papers.common import base"),
        ("okosu.report.page", "import lab.kernel.build"),
        ("lab.run.qemu", "from papers.simd_kernel.run import survey"),
        ("papers.common.base", "from papers.simd_kernel.run import survey"),
        ("papers.simd_kernel.run.survey", "from papers.zero_offload.engines import CPU"),
    ],
)
def test_a_planted_import_is_found(name: str, planted: str) -> None:
    assert against_the_rule(name, planted)


def test_every_package_has_a_level() -> None:
    packages = {path.parent.name for path in (ROOT / "okosu").glob("*/__init__.py")}
    assert packages <= LEVEL.keys()


def test_nothing_native_knows_of_python_or_of_the_other_rooms() -> None:
    for path in (ROOT / "native").rglob("*.[ch]"):
        assert "Python.h" not in path.read_text(), path
