# SPDX-License-Identifier: Apache-2.0
"""The levers, one file each: any module of this folder that defines a Lever. Adding one needs no edit here."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil

from okosu import levers
from okosu.levers.base import Availability, Lever

__all__ = ["Availability", "Lever", "load"]


@functools.cache
def load() -> dict[str, Lever]:
    found: dict[str, Lever] = {}
    for info in pkgutil.iter_modules(levers.__path__):
        module = importlib.import_module(f"okosu.levers.{info.name}")
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Lever) and not inspect.isabstract(kind) and kind.__module__ == module.__name__:
                found[kind.name] = kind()
    return dict(sorted(found.items()))
