# SPDX-License-Identifier: Apache-2.0
"""The parts of scipy, each imported when a test first uses it: scipy.stats takes longer than to collect all tests."""

from __future__ import annotations

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    return importlib.import_module(f"scipy.{name}")
