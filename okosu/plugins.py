# SPDX-License-Identifier: Apache-2.0
"""What other distributions add to okosu, by entry points: the lab and the papers of a checkout do.

Groups: `okosu.commands` (a module with NAME, HELP, EXAMPLES, add_arguments and run, as those of okosu/cli are),
`okosu.report` (a function that takes a ReproduceFile and a key for ids, and returns okosu.report.part.Part for the
records that it knows), `okosu.summary` (a function that takes a paper's file, or the content of a JSON file of another
kind, and returns okosu.records.summary.Kept), `okosu.schemas` (a function that returns structs, see
okosu/records/schema.py) and `okosu.lab` (see lab/registry.py).
"""

from __future__ import annotations

import functools
from importlib.metadata import entry_points
from typing import Any


@functools.cache
def load(group: str) -> dict[str, Any]:
    """The objects registered in `group` by name, in alphabetical order; {} in a wheel, which has no lab and no
    papers.
    """
    return {point.name: point.load() for point in sorted(entry_points(group=group), key=lambda point: point.name)}


def find(group: str, name: str) -> Any | None:
    """The object registered in `group` under that name, or None; what else is registered is not loaded."""
    for point in entry_points(group=group, name=name):
        return point.load()
    return None
