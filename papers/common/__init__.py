# SPDX-License-Identifier: Apache-2.0
"""What the papers share: published entries, targets, judging, conduct, `okosu reproduce`.

A paper is a folder papers/NAME/ whose paper.py defines a Paper. Adding one needs no edit here.
"""

from __future__ import annotations

import functools
import inspect

from papers.common.base import Paper

__all__ = ["Paper", "load"]


@functools.cache
def load() -> dict[str, Paper]:
    """Return every paper by its name, in alphabetical order."""
    from papers.common import registered

    found: dict[str, Paper] = {}
    for module in registered.modules("paper"):
        for _, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, Paper) and not inspect.isabstract(kind) and kind.__module__ == module.__name__:
                found[kind.name] = kind()
    return dict(sorted(found.items()))
