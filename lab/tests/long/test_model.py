# SPDX-License-Identifier: Apache-2.0
"""The memory-hierarchy model in QEMU, on programs whose counts are known beforehand: make test-lab."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.model import machines, model_plugin, plugin_counts
from lab.model.plugin_counts import Region
from lab.run import guest, qemu
from lab.run.outcome import Outcome
from lab.tests.long import x86_guest

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

TIMEOUT_S = 2400.0
ROOT = Path(__file__).resolve().parents[3]
PAGE = 4096

# What makes every count simple: LRU everywhere, and a TLB that holds sixteen pages of each size.
PLAIN = """
name = "plain"
note = ""
hertz = 1_000_000_000
instructions_per_cycle = 1
kernel_pages = "2m"
memory = {cycles = 10}
tlb = [{level = 1, pages = "4k", entries = 16, ways = 16, replacement = "lru", cycles = 0},
       {level = 1, pages = "2m", entries = 16, ways = 16, replacement = "lru", cycles = 0}]
walk = {cycles_4k = 4, cycles_2m = 2}
[[cache]]
name = "L1"
bytes = 65536
ways = 4
line = 64
replacement = "lru"
fill = "none"
shared = false
cycles = 1
# Bit 0 of the colour is folded with address bit 28, which the nodes of the tests differ in.
rows = { "6" = 0x1000_1000 }
[sources]
"""
WAYS = 4


def conflicting(frames: list[int]) -> int:
    """Return how many of these page frames lie in a colour of the plain machine that has more of them than ways."""
    colours = Counter((frame ^ frame >> 16 & 1) % 4 for frame in frames)
    return sum(count for count in colours.values() if count > WAYS)


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("model") / "model_check"
    flags = ["-std=c17", "-O2", "-static", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/lab/guest"]
    subprocess.run(["gcc", *flags, "-o", to, Path(__file__).with_name("model_check.c")], check=True)
    return to


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a machine of this test's, in a copy of the model's folder."""
    folder = tmp_path / "model-with-plain"
    shutil.copytree(ROOT / "lab/model", folder)
    monkeypatch.setenv("OKOSU_MODEL", str(folder))
    keys = ["hertz", "instructions_per_cycle", "kernel_pages", "memory.cycles", "walk.cycles", "tlb.1.4k", "tlb.1.2m"]
    keys += [f"cache.L1.{what}" for what in ("size", "replacement", "fill", "cycles", "rows")]
    sources = "".join(f'"{key}" = "assumed: for the test"\n' for key in keys)
    (folder / "machines" / "plain.toml").write_text(PLAIN + sources)
    return "plain"


def run(built: Built, machine: str, *command: str, **more: object) -> Outcome:
    given = {"timeout": TIMEOUT_S, "model": machine, **more}
    outcome = qemu.run(built, command, **given)  # type: ignore[arg-type]
    assert outcome.status == 0, outcome.console
    return outcome


def regions(outcome: Outcome) -> list[Region]:
    found = model_plugin.regions(outcome.files[model_plugin.COUNTS])
    assert [region.broken for region in found] == [0] * len(found)
    return plugin_counts.inside(found)


def test_counts_of_programs_that_are_known(built: Built, check: Path, plain: str) -> None:
    words = ["loop 1000000", "clear 2097152", "pages 12", "pages 16", "pages 40", "huge 6", "unmarked 6"]
    # Below 512 MiB the kernel's default is never.
    script = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    script += "".join(f'; "$0" {each} || exit 1' for each in words)
    outcome = run(built, plain, "sh", "-c", script, str(check))
    loop, clear, few, sixteen, many, huge, unmarked = regions(outcome)
    printed = [[int(word) for word in line.split()] for line in outcome.stdout.decode().splitlines()]

    # Two instructions a round; the compiler may have put a few more between the marks.
    assert 0 <= loop.user.instructions - 2_000_000 < 10
    assert loop.user.loads + loop.user.stores < 10
    # A string instruction with a REP is one instruction whose accesses are lines; all of its bytes are counted.
    assert clear.user.instructions < 20
    assert 0 <= clear.user.store_bytes - 2097152 < 64
    assert 2097152 // 64 <= clear.user.stores < 2097152 // 64 + 8

    # Hardly any other access is in the region: with no more pages than entries there is no page walk.
    for region, count in ((few, 12), (sixteen, 16), (many, 40)):
        assert 0 <= region.user.loads - 100 * count < 10
    assert few.user.walks == [0, 0]
    # More pages than entries, accessed in turn under LRU: each access walks.
    assert 0 <= many.user.walks[0] - 4000 < 10

    # The cache is indexed physically: pages of a colour with more pages than ways always miss, the others never, but
    # for interrupts.
    for region, frames in ((few, printed[2]), (sixteen, printed[3]), (many, printed[4])):
        assert 0 <= region.user.found[-1] - 100 * conflicting(frames) < 30, (frames, region)
    assert sum(region.user.found[-1] for region in (few, sixteen, many)) > 1000

    # Six entries for 2 MiB suffice where 3072 for 4 KiB would be needed.
    assert huge.user.walks[0] < 4
    assert huge.user.walks[1] == 0
    assert huge.user.translated[0] >= 6 * 512 * 10
    assert unmarked.user.walks[0] >= 6 * 512 * 10


def test_two_runs_are_identical(built: Built) -> None:
    program = guest.program("work_transpose")
    script = 'for n in 60 85 120; do "$0" $n 3 $n; done'
    outcomes = [run(built, "celeron-900", "sh", "-c", script, str(program)) for _ in range(2)]
    one, other = (outcome.files[model_plugin.COUNTS].read_bytes().splitlines() for outcome in outcomes)
    # The last line counts what follows the last region: the end of the machine is not the same in each run.
    assert one[:-1] == other[:-1]
    assert [region.label for region in regions(outcomes[0])] == [60, 85, 120]
    for region in regions(outcomes[0]):
        machine = machines.find("celeron-900")
        assert region.user.bytes == pytest.approx(16 * region.label**2 * 3, rel=0.01)
        assert sum(region.user.found) == pytest.approx(2 * region.label**2 * 3, rel=0.02)
        assert region.megabytes_per_second(machine) > 0
    assert outcomes[0].stdout == outcomes[1].stdout


def test_every_cpu_has_its_counts_and_nodes_their_frames(built: Built, check: Path, plain: str) -> None:
    script = """
        taskset 2 "$0" pages 40 > "$OKOSU_OUT/frames" &
        taskset 1 "$0" loop 3000000 > /dev/null
        wait
        taskset 2 "$0" spread 8 >> "$OKOSU_OUT/frames"
        taskset 1 "$0" spread 13 >> "$OKOSU_OUT/frames"
        grep . "$OKOSU_OUT/frames"
    """
    outcome = run(built, plain, "sh", "-c", script, str(check), cpus=2, nodes=2, memory="512M")
    found = model_plugin.regions(outcome.files[model_plugin.COUNTS])
    # Two programs at once mark regions that overlap, and the model says so.
    counts = {(region.label, region.cpu): region.user for region in plugin_counts.inside(found)}
    assert counts[8, 1].loads >= 800 > counts[8, 0].loads
    assert counts[13, 0].loads >= 1300 > counts[13, 1].loads
    alone, both, other = ([int(word) for word in line.split()] for line in outcome.stdout.decode().splitlines())
    assert min(alone) >= (256 << 20) // PAGE
    for frames, of in ((both, counts[8, 1]), (other, counts[13, 0])):
        assert min(frames) < (256 << 20) // PAGE <= max(frames)
        assert 0 <= of.found[-1] - 100 * conflicting(frames) < 30, (frames, of)
    # Switching to a program loads CR3.
    assert sum(region.kernel.flushes for region in found) > 10
