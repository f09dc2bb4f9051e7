# SPDX-License-Identifier: Apache-2.0
"""The first lines of a Python script for this interpreter, whose path may have spaces."""

from __future__ import annotations

import sys


def python(*options: str) -> str:
    """The kernel cuts a #! line at spaces, so sh executes the interpreter; to Python that is a string."""
    return f"#!/bin/sh\n'''exec' '{sys.executable}' {' '.join(options)} \"$0\" \"$@\"\n' '''\n"
