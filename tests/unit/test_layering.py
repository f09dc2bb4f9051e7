# SPDX-License-Identifier: Apache-2.0
"""Imports run one way: a package imports only what lies below it, and no sibling (docs/ARCHITECTURE.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import okosu

ROOT = Path(okosu.__file__).parent
LEVEL = {
    "cli": 5,
    "papers": 4,
    "report": 4,
    "trial": 3,
    "bench": 3,
    "lab": 3,
    "levers": 2,
    "machine": 1,
    "records": 1,
    "stats": 1,
    "errors": 0,
    "native": 0,
}


def imported(path: Path) -> set[str]:
    """Return the okosu packages that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("okosu.")}
    return found & LEVEL.keys()


@pytest.mark.parametrize("path", sorted(ROOT.glob("*/**/*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_what_lies_below_it(path: Path) -> None:
    own = path.relative_to(ROOT).parts[0]
    for other in imported(path) - {own}:
        assert LEVEL[other] < LEVEL[own], f"{own} imports {other}"


def test_every_package_has_a_level() -> None:
    packages = {p.parent.name for p in ROOT.glob("*/__init__.py")}
    assert packages <= LEVEL.keys()


def test_nothing_native_knows_of_python() -> None:
    native = ROOT.parent / "native"
    assert not [p for p in native.rglob("*.[ch]") if "Python.h" in p.read_text()]
