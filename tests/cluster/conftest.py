# SPDX-License-Identifier: Apache-2.0
"""Folders of records as the nodes of a cluster would have written them: synthetic trials on captured machines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
sys.path.insert(0, str(Path(__file__).parents[1] / "machines"))
import built_machines as built
import synthetic

from okosu import machine
from okosu.machine import Machine
from okosu.records import files
from okosu.records.types import TryFile

Put = Callable[..., Path]


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Machine]:
    """The captured machines by name."""
    folder = tmp_path_factory.mktemp("machines")
    found = {}
    for name in ("this-vm", "server-2s4n", "thp-never"):
        with machine.unpacked(built.place(name, folder / name)) as root:
            found[name] = machine.read(root)
    return found


@pytest.fixture(scope="session")
def trials() -> dict[str, TryFile]:
    return {name: make() for name, make in synthetic.ALL.items()}


@pytest.fixture
def put(tmp_path: Path, machines: dict[str, Machine], trials: dict[str, TryFile]) -> Put:
    """Writes a synthetic trial, measured on a captured machine (or on `here`), into {tmp_path}/records."""

    def write(name: str, trial: str, on: str | Machine, **changes: Any) -> Path:
        here = machines[on] if isinstance(on, str) else on
        envelope = msgspec.structs.replace(trials[trial], machine=machine.facts(here), **changes)
        path = tmp_path / "records" / name
        files.write(envelope, path)
        return path

    return write
