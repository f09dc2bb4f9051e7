# SPDX-License-Identifier: Apache-2.0
"""Where kernel series, configuration fragments and guest programs lie: in the lab, and in the folder of each paper.

A room is a folder that may have `series/NAME/*.patch` with `series/NAME/platform`, `config/NAME.fragment` (both also
in a folder of a base's name: see lab.kernel.series and lab.kernel.config) and `guest/NAME.c`. The lab's own room comes
first; each folder below papers/ is another, found by scan, so that a paper brings its own and nothing names it here.
With OKOSU_ROOM=DIR that folder is the only room, as tests need it.
"""

from __future__ import annotations

import os
from pathlib import Path

LAB = Path(__file__).resolve().parent
CHECKOUT = LAB.parent


def rooms() -> list[Path]:
    """Return every room, the lab's first, the papers' in alphabetical order."""
    if named := os.environ.get("OKOSU_ROOM"):
        return [Path(named)]
    return [LAB, *sorted(path for path in (CHECKOUT / "papers").glob("*") if path.is_dir())]


def find(pattern: str) -> list[Path]:
    """Return what matches `pattern` (such as "config/*.fragment") in any room, in order of the files' names."""
    return sorted((path for room in rooms() for path in room.glob(pattern)), key=lambda path: path.name)
