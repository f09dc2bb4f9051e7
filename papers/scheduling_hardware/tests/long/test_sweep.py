# SPDX-License-Identifier: Apache-2.0
"""Sweeps of the machine in rtl/: here, and as a job array under an sbatch of ours that runs its tasks one by one."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from lab.tests import obeys
from papers.scheduling_hardware import sweeps
from papers.scheduling_hardware.tests.long.shared import MACHINE, NEEDS, okosu

pytestmark = NEEDS

LOOP = """\
#include <stdlib.h>
int main(int c, char **v)
{
    for (volatile int i = atoi(v[1]); i; i--)
        ;
    return c != 2;
}
"""

# What sbatch does with a script: its options, then the script once for each number of --array.
SBATCH = """\
#!/bin/sh
set -eu
array=$(sed -n 's/^#SBATCH --array=0-//p' "$1")
for task in $(seq 0 "$array"); do
    SLURM_ARRAY_TASK_ID=$task sh "$1" || true
done
"""


def test_a_sweep_gives_a_record_a_point_and_survives_a_failing_one(tmp_path: Path) -> None:
    (source := tmp_path / "loop.c").write_text(LOOP)
    base = sweeps.Point(MACHINE, "ssh", (str(source), "{times}"))
    points = sweeps.points(base, [("backend", ("ssh", "software")), ("times", ("10", "1000", "100000"))])
    records = sweeps.run(points, max_cycles=200000)
    assert [one.varied for one in records] == [dict(point.varied) for point in points]
    assert [one.status for one in records] == [0, 0, 125] * 2
    assert records[0].cycles < records[1].cycles
    assert "has not ended after 200000 cycles" in records[2].error
    # What was measured of a point that failed is not lost.
    assert records[2].cycles == 200000
    assert records[2].counters[0]["user"]["execute"] > 1000


def test_a_job_array_gives_what_the_sweep_gives(tmp_path: Path) -> None:
    (source := tmp_path / "loop.c").write_text(LOOP)
    (sbatch := tmp_path / "sbatch").write_text(SBATCH)
    script, here, there = (tmp_path / name for name in ("array.sh", "here.json", "there.json"))
    sweep = ["--max-cycles", "200000", "--sweep", "times=10,1000,100000", "--", str(source), "{times}"]
    assert okosu("--json", str(here), *sweep).returncode == 125
    assert okosu("--slurm", str(script), *sweep, at=tmp_path).returncode == 0
    subprocess.run(["sh", sbatch, script], check=True, capture_output=True, cwd="/")
    done = okosu("--collect", str(tmp_path / "array.sh.points"), "--json", str(there), *sweep)
    assert done.returncode == 125
    assert "times=100000  the program has not ended after 200000 cycles" in done.stdout
    assert points(there) == points(here)


def points(path: Path) -> list[dict[str, Any]]:
    """Return the records without what differs from run to run."""
    found = obeys.its_schema(path.read_text())["points"]
    return [{name: value for name, value in one.items() if name not in ("seconds", "khz")} for one in found]
