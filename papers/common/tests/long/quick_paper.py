# SPDX-License-Identifier: Apache-2.0
"""A paper reproduced as a user would do it, quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from okosu.records import files
from okosu.records.types import ReproduceFile


def reproduce(name: str, folder: Path, *words: str) -> ReproduceFile:
    """Return the record of `okosu reproduce NAME --quick` with these words, too, which has to end well."""
    path = folder / "quick.json"
    command = [sys.executable, "-m", "okosu", "reproduce", name, *words, "--quick", "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return files.read_as(ReproduceFile, path)
