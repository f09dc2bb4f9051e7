# SPDX-License-Identifier: Apache-2.0
"""What the tests on a real kernel under User-Mode Linux share: the kernel, a scratch folder, a command in a shell."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.run import uml
from lab.run.outcome import Outcome

ROOT = Path(__file__).resolve().parents[3]
OKOSU = [sys.executable, "-m", "okosu", "lab", "run", "uml"]


@pytest.fixture(scope="module")
def built() -> Built:
    done = subprocess.run([ROOT / "tools/setup/lab-deps.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return uml.build()


def shell(built: Built, script: str, **options) -> Outcome:  # type: ignore[no-untyped-def]
    return uml.run(built, ["sh", "-c", script], **{"memory": "96M", "timeout": 1800.0, **options})


def kernels(folder: Path) -> set[int]:
    """Return the processes whose current folder is below `folder`: kernels, and the processes that run their guests."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(folder) and int(process.name) != os.getpid():
                found.add(int(process.name))
        except OSError:
            continue
    return found


def gone(folder: Path) -> None:
    """Fail unless soon no kernel is left that was started below `folder`."""
    end = time.monotonic() + 1800
    while kernels(folder):
        assert time.monotonic() < end, "kernels are still running"
        time.sleep(0.05)


def _uml_folder() -> list[Path]:
    """Return the files of kernels in their default folder, which others may use too."""
    return list(Path("~/.uml").expanduser().glob("*"))


@pytest.fixture(autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give each test a folder for temporary files, in which nothing may be left when it ends."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    memory, instances = set(Path("/dev/shm").glob("vm_file*")), set(_uml_folder())
    yield folder
    gone(folder)
    # A caught exception refers to the outcomes of its test until it is garbage-collected.
    gc.collect()
    assert list(folder.iterdir()) == []
    assert set(Path("/dev/shm").glob("vm_file*")) <= memory
    assert set(_uml_folder()) <= instances
