# SPDX-License-Identifier: Apache-2.0
"""The pool of clean blocks: against its model and under threads; under ThreadSanitizer; and bugs that must be seen."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from zerod_tool import huge_pages

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("OKOSU_NATIVE", ROOT / "build"))
PROGRAM = BUILT / "native/src/pool/zero-pool-check"
POOL = ROOT / "native/src/pool"
FLAGS = ("-std=gnu17", "-D_GNU_SOURCE", "-O1", "-g")
FULL = os.environ.get("OKOSU_LAB") == "full"
SANITIZERS = {"address": "-fsanitize=address,undefined", "thread": "-fsanitize=thread"}

# What each would do: a page that is left, a unit that is clean before it was cleared, a block that is two threads', a
# failed clearing that counts, a child that takes, a run one unit short, watermarks that are never reached.
PLANTED = {
    "one page too few is cleared": (
        "work.c",
        "pool->units.unit[index].dirty * OKOSU_POOL_PAGE;",
        "(pool->units.unit[index].dirty - 1) * OKOSU_POOL_PAGE;",
    ),
    "a unit counts as clean while it is cleared": (
        "work.c",
        "    pthread_mutex_unlock(&pool->lock);\n    usable",
        "    okosu_units_settle(&pool->units, index, OKOSU_UNIT_CLEAN);\n"
        "    pthread_mutex_unlock(&pool->lock);\n    usable",
    ),
    "a dirty block is taken for a clean one": (
        "units.c",
        "                unit->dirty   ? OKOSU_UNIT_DIRTY\n",
        "                unit->dirty > 1 ? OKOSU_UNIT_DIRTY\n",
    ),
    "what was never there counts as clean": ("units.c", "unit->fresh &= !unit->dirty;", "unit->fresh = false;"),
    "two threads take one unit": (
        "units.c",
        "!own(units, k, was, OKOSU_UNIT_HELD)",
        "(!own(units, k, was, OKOSU_UNIT_HELD) && k == first)",
    ),
    "what needs no zeros is cleared all the same": (
        "work.c",
        "(!pool->options.reuse ||",
        "(pool->options.high <= 0 ||",
    ),
    "what failed counts as cleared": ("work.c", "    if (lost) {", "    if (lost && !usable) {"),
    "a failed clearing is not given back": (
        "work.c",
        "    if (*lost)\n        return okosu_supply_drop",
        "    if (*lost && !dirty)\n        return okosu_supply_drop",
    ),
    "a child takes from its parent's pool": ("pool.c", "if (!is_mine(pool) || !bytes)", "if (!bytes)"),
    "a run is one unit short": (
        "pool.c",
        "bytes / unit + (bytes % unit != 0), first;",
        "bytes / unit + (bytes < unit), first;",
    ),
    "what is mapped anew may be of any node": (
        "supply.c",
        "pool->options.node);\n\n    for",
        "0);\n\n    for",
    ),
    "the upper watermark is forgotten": (
        "work.c",
        "ready >= atomic_load(&pool->high)",
        "ready >= atomic_load(&pool->low)",
    ),
}


def compiled(folder: Path, sources: Path, *more: str) -> Path:
    program = folder / "check"
    programs = ROOT / "tests/native/programs"
    check = sorted(programs.glob("zero_pool_check*.c"))
    include = (f"-I{ROOT / 'native/include'}", f"-I{sources.parent}")
    files = sorted(sources.glob("*.c"))
    library = BUILT / "native/lib/libokosu.a"
    inputs = map(str, [program, *check, *files, library])
    words = ["cc", *FLAGS, *more, *include, "-o", *inputs, "-lm", "-lpthread"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def run(program: Path, *argv: str, wrapper: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*wrapper, str(program), *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("threads", ["1", "8"])
def test_every_block_is_clean(threads: str) -> None:
    """100,000 blocks in make test-lab-full: each is scanned whole, and soiled before it is given back."""
    done = run(PROGRAM, "100000" if FULL else "6000", threads, threads)
    assert done.returncode == 0, done.stdout
    assert "ok: fork" in done.stdout
    assert f"blocks of {threads} threads, each scanned clean" in done.stdout


@pytest.mark.parametrize("name", SANITIZERS)
def test_threads_under(name: str, tmp_path: Path) -> None:
    """And 100,000 under each in make test-lab-full."""
    program = compiled(tmp_path, POOL, SANITIZERS[name])
    # ThreadSanitizer can't live with every layout of the address space.
    done = run(program, "100000" if FULL else "400", "4", "5", wrapper=("setarch", "-R"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sanitizer" not in done.stderr


@pytest.mark.privileged
def test_huge_pages_lowered_underneath() -> None:
    """A pool on them goes on with what it has: nobody is ended, and nothing is seen before it is clean."""
    with huge_pages(8) as lower:
        child = subprocess.Popen([PROGRAM, "hugetlb"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "lower\n"
        lower()
        said, _ = child.communicate("done\n")
        assert child.returncode == 0, said
        assert "ok: huge pages lowered underneath" in said


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_seen(name: str, tmp_path: Path) -> None:
    sources = tmp_path / "native" / "pool"
    shutil.copytree(POOL, sources)
    file, text, wrong = PLANTED[name]
    whole = (sources / file).read_text()
    assert whole.count(text) == 1
    (sources / file).write_text(whole.replace(text, wrong))
    done = run(compiled(tmp_path, sources), "300", "4", "3")
    assert done.returncode != 0, done.stdout
