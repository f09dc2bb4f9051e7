# SPDX-License-Identifier: Apache-2.0
"""superpage=collapse under okosu-measure: the launcher's helper does not count as part of the process tree, and lives
long enough to write its evidence.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from measure_tool import until
from preload_tool import huge_pages_now

from okosu import native

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static long huge_kb(void)
{
    FILE *smaps = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long huge = 0;
    while (smaps && fgets(line, sizeof line, smaps))
        sscanf(line, "AnonHugePages: %ld", &huge);
    if (smaps)
        fclose(smaps);
    return huge;
}
int main(void)
{
    size_t size = (size_t)96 << 20;
    volatile char *block = malloc(size);
    if (!block)
        return 1;
    for (size_t i = 0; i < size; i += 512)
        block[i] = 1;
    /* The helper has the lowest priority, and on a busy machine no CPU for a while. */
    while (huge_kb() < 2048)
        usleep(10000);
    return block[size / 2] != 1;
}
"""


@pytest.mark.privileged
@pytest.mark.ptrace
def test_the_helper_writes_its_evidence_and_is_not_counted(tmp_path: Path) -> None:
    if "[never]" in Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text():
        pytest.skip("huge pages are switched off here")
    if not huge_pages_now(8):
        pytest.skip("the kernel has no free huge pages")
    (tmp_path / "hold.c").write_text(PROGRAM)
    subprocess.run(["cc", "-O1", "-static", "-o", tmp_path / "hold", tmp_path / "hold.c"], check=True)
    evidence = tmp_path / "evidence"
    done = subprocess.run(
        [
            native.find("okosu-measure"),
            "--",
            native.find("okosu-run"),
            "--superpage=collapse",
            f"--proof={evidence}",
            "--",
            tmp_path / "hold",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    run = json.loads(done.stdout)
    assert (run["status"], run["processes"], run["left"]) == (0, 1, 0), done.stderr
    # The helper writes it a moment after the program's end.
    assert until(lambda: evidence.exists() and evidence.read_text().endswith("\n"))
    line = json.loads(evidence.read_text())
    assert line["by"] == "collapse"
    assert line["collapsed"] > 0
    assert run["exit"]["anon_huge_kb"] >= 2048
