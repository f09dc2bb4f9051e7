# SPDX-License-Identifier: Apache-2.0
"""A sweep of the machine in rtl/ as a job array: the script for sbatch, and its tasks' results put together."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import msgspec

from okosu.cluster import slurm
from okosu.errors import LAUNCHER_FAILED
from papers.scheduling_hardware.formats import PointRecord, SweepFile
from papers.scheduling_hardware.sweeps import Point, described


def script(count: int, command: Sequence[str], words: Sequence[str], folder: str, at: Path) -> str:
    """Return a script for `sbatch`: task N of the array runs point N of a sweep, and writes it into `folder`.

    `command` is what starts `okosu lab run rtl`, `words` what was typed behind it; they are run in the folder `at`.
    """
    run, typed, results = shlex.join(command), shlex.join(words), shlex.quote(folder)
    return slurm.script(
        "okosu-rtl",
        [f"--array=0-{count - 1}", "--ntasks=1", "--cpus-per-task=1"],
        [
            "Task N writes point N. All of them together, once they have ended:",
            f"  {run} --collect {results} --json FILE {typed}",
            "What has to be built is built once for all tasks that share the cache (XDG_CACHE_HOME).",
        ],
        at,
        folder,
        [
            "task=${SLURM_ARRAY_TASK_ID:?sbatch sets it}",
            f'exec {run} --point "$task" --json {results}/point-"$task".json {typed}',
        ],
    )


def collect(points: Sequence[Point], folder: Path) -> list[PointRecord]:
    """Return what sweeps.run() would, from the files that the tasks of the array wrote into `folder`.

    A point whose file is missing, broken or of another sweep is a record with its error.
    """
    return [_read(point, folder / f"point-{index}.json") for index, point in enumerate(points)]


def _read(point: Point, path: Path) -> PointRecord:
    try:
        (found,) = msgspec.json.decode(path.read_bytes(), type=SweepFile).points
    except OSError as error:
        why = f"{path}: {error.strerror}"
    except (ValueError, msgspec.DecodeError):
        why = f"{path}: not what a task of a sweep writes"
    else:
        ours = described(point, found.status)
        if all(getattr(found, name) == getattr(ours, name) for name in ("machine", "backend", "command", "varied")):
            return found
        why = f"{path}: a point of another sweep"
    return described(point, LAUNCHER_FAILED, error=why)
