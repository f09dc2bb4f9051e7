# SPDX-License-Identifier: Apache-2.0
"""The papers, one file each: any module of this folder that defines a Paper. Adding one needs no edit here."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil

from okosu import papers
from okosu.papers.base import Paper

__all__ = ["Paper", "load"]


@functools.cache
def load() -> dict[str, Paper]:
    """Return every paper by its name, in alphabetical order."""
    found: dict[str, Paper] = {}
    for info in pkgutil.iter_modules(papers.__path__):
        module = importlib.import_module(f"okosu.papers.{info.name}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Paper) and not inspect.isabstract(kind) and kind.__module__ == module.__name__:
                found[kind.name] = kind()
    return dict(sorted(found.items()))
