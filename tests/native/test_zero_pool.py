# SPDX-License-Identifier: Apache-2.0
"""The pool of clean blocks: against its model, with threads, under ThreadSanitizer; and planted bugs that must be
seen.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from effort import length
from zerod_tool import huge_pages

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("OKOSU_NATIVE", ROOT / "build"))
PROGRAM = BUILT / "native/src/check/zero-pool-check"
POOL = ROOT / "native/src/pool"
FLAGS = ("-std=gnu17", "-D_GNU_SOURCE", "-O1", "-g")
SANITIZERS = {"address": "-fsanitize=address,undefined", "thread": "-fsanitize=thread"}

# The consequences of these bugs: a page that is not cleared, a unit that counts as clean before it was cleared, a block
# that two threads have, a failed clearing that counts, a child that takes blocks, a run that is one unit short,
# watermarks that are never reached.
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


INCLUDE = (f"-I{ROOT / 'native/include'}", f"-I{ROOT / 'native/src'}")
CHECK = sorted((ROOT / "tests/native/programs").glob("zero_pool_check*.c"))


def cc(*words: str | Path) -> None:
    done = subprocess.run(["cc", *FLAGS, *INCLUDE, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def linked(program: Path, *parts: str | Path) -> Path:
    cc("-o", program, *parts, BUILT / "native/lib/libokosu.a", "-lm", "-lpthread")
    return program


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The objects of the unchanged check and pool, compiled once."""
    folder = tmp_path_factory.mktemp("objects")
    made = {path.name: folder / f"{path.stem}.o" for path in (*CHECK, *POOL.glob("*.c"))}
    for path in (*CHECK, *POOL.glob("*.c")):
        cc("-c", path, "-o", made[path.name])
    return made


def changed(folder: Path, objects: dict[str, Path], file: str, *changes: tuple[str, str]) -> Path:
    """The check, built with some text of one of the pool's files replaced."""
    text = (POOL / file).read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / file).write_text(text)
    return linked(folder / "check", folder / file, *(path for name, path in objects.items() if name != file))


def run(program: Path, *argv: str, wrapper: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*wrapper, str(program), *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.lab
@pytest.mark.parametrize("threads", ["1", "8"])
def test_every_block_is_clean(threads: str) -> None:
    """Each of 1,500 blocks (100,000 in make test-lab-full) is scanned whole, and written to before it is given back."""
    done = run(PROGRAM, length("1500", "6000", "100000"), threads, threads)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok: fork" in done.stdout
    assert f"blocks of {threads} threads, each scanned clean" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("name", SANITIZERS)
def test_threads_under(name: str, tmp_path: Path) -> None:
    """100,000 blocks under each sanitizer in make test-lab-full."""
    program = linked(tmp_path / "check", SANITIZERS[name], *CHECK, *POOL.glob("*.c"))
    # ThreadSanitizer does not support every layout of the address space.
    done = run(program, length("400", "400", "100000"), "4", "5", wrapper=("setarch", "-R"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Sanitizer" not in done.stderr


@pytest.mark.privileged
def test_huge_pages_lowered_underneath() -> None:
    """A pool on huge pages continues with those it has: no process is killed, and no block is seen before it is
    clean.
    """
    with huge_pages(8) as lower:
        child = subprocess.Popen([PROGRAM, "hugetlb"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "lower\n"
        lower()
        said, _ = child.communicate("done\n")
        assert child.returncode == 0, said
        assert "ok: huge pages lowered underneath" in said


@pytest.mark.long
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_seen(name: str, objects: dict[str, Path], tmp_path: Path) -> None:
    file, text, wrong = PLANTED[name]
    done = run(changed(tmp_path, objects, file, (text, wrong)), "300", "4", "3")
    assert done.returncode != 0, done.stdout


# Each of the two threads waits for the other after it has looked at a unit and before it takes the unit: the schedule
# in which the planted race happens, every time.
LOOKED = "        enum okosu_unit_state was = okosu_units_state(units, k);\n"
MEET = (LOOKED, f"        void zero_pool_check_meet(void);\n{LOOKED}        zero_pool_check_meet();\n")
NOT_OWNED = "!own(units, k, was, OKOSU_UNIT_HELD)"


def test_two_threads_that_saw_the_same_unit_do_not_both_get_it(objects: dict[str, Path], tmp_path: Path) -> None:
    done = run(changed(tmp_path, objects, "units.c", MEET), "race")
    assert (done.returncode, done.stdout) == (0, "ok: race\n")


def test_a_planted_race_is_seen(objects: dict[str, Path], tmp_path: Path) -> None:
    """With the planted bug, the thread that came too late takes the unit all the same."""
    wrong = (NOT_OWNED, f"({NOT_OWNED} && k != first)")
    done = run(changed(tmp_path, objects, "units.c", MEET, wrong), "race")
    assert done.returncode != 0, done.stdout
