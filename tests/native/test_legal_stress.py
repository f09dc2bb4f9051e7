# SPDX-License-Identifier: Apache-2.0
"""What a program may do to its memory, at random, under every lever that loads a library into it.

The operations of all cases together are one million in `make test`, 10 million in `make test-lab` and 100 million in
`make test-lab-full`. Of each million about 948,000 are on blocks of up to 2 KiB, 30,000 on blocks to 100 KiB, 9,000 on
blocks that libc maps, 3,200 on larger ones and across all sizes, 4,000 copies inside one block, 620 on blocks parts of
which are protected, locked, unmapped or pages of a file, 4,200 on mappings; 700 make processes (fork, exec, clone,
seccomp filters, limits, locked memory, closed descriptors), whose operations come in addition, and 500 make threads.
Each kind comes once in each run, whatever its length.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from effort import length
from preload_tool import THP, build, clean_environment, folder
from processes import run_alone
from stacks import LEVERS
from zerod_tool import BUILT, ROOT, serving

from okosu import native

pytestmark = pytest.mark.preloads

PARTS = ("legal_stress", *(f"legal_stress_{part}" for part in ("blocks", "regions", "processes", "threads")))
THREADS = ("1", "3")
OPERATIONS = length(1_000_000, 10_000_000, 100_000_000) // ((len(LEVERS) + 1) * len(THREADS))


def stress(*options: str) -> Path:
    library = build("legal-stress-library.so", "-shared", "-fPIC", "-fno-builtin", "legal_stress_library.c")
    name = "-".join(["legal-stress", *options])
    return build(name, *options, "-fno-builtin", *(f"{part}.c" for part in PARTS), str(library), "-lpthread")


def eager() -> str:
    return str(build("eager-worker.so", "-shared", "-fPIC", "eager_worker.c"))


def run(levers: Sequence[str], threads: str, **settings: str) -> int:
    """Check a run of the stress; return how many kinds of operation it made."""
    env = os.environ | {"LD_PRELOAD": eager()} | settings
    program = [str(stress()), "1", str(OPERATIONS), threads]
    done = run_alone([native.find("okosu-run"), "--strict", *levers, "--", *program], env)
    assert done.returncode == 0, done.stdout
    *kinds, last = done.stdout.splitlines()
    assert last == "legal"
    counts = {words[0]: int(words[1]) for words in map(str.split, kinds)}
    assert all(counts.values()), counts
    assert sum(counts.values()) == OPERATIONS // int(threads) * int(threads)
    return len(counts)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("levers", LEVERS)
def test_content_is_kept_under(levers: str, threads: str) -> None:
    assert run(LEVERS[levers], threads) == 34


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU: the daemon's thread has the lowest priority")
@pytest.mark.parametrize("threads", THREADS)
def test_content_is_kept_in_memory_of_the_daemon(threads: str) -> None:
    """Which is shared with a child of fork, so that only what does not fork may have it.

    A run has none of that memory where other work kept the pool's thread, which is of lowest priority, from every CPU.
    """
    with serving() as daemon:
        used = False
        while not used:
            assert run(["--no-fork", f"--prezero=broker:{daemon.socket}"], threads, LEGAL_NO_FORK="1") == 25
            # The daemon clears what was used as soon as the program has ended.
            used = any(daemon.status()["cleared_bytes"] > 0 for _ in range(20))


def planted(lever: str, source: str, old: str, new: str) -> Path:
    """Build the library of a lever as the build folder's own commands do, with one change in one of its sources."""
    made = folder() / f"planted-{lever}"
    made.mkdir(exist_ok=True)
    text = (ROOT / "native/preload" / source).read_text()
    assert text.count(old) == 1
    (made / source).write_text(text.replace(old, new))
    target = f"native/preload/libokosu-{lever}.so"
    ninja = shutil.which("ninja") or str(Path(sys.executable).with_name("ninja"))
    asked = [ninja, "-C", str(BUILT), "-t", "commands", target]
    commands = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    unit = f"{target}.p/{source}.o"
    (compiling,) = (shlex.split(line) for line in commands if f" -o {unit} " in line)
    linking = shlex.split(commands[-1])
    there = {unit: str(made / "changed.o"), f"{unit}.d": os.devnull, target: str(made / Path(target).name)}
    changed = [there.get(word, word) for word in [*compiling[:-1], str(made / source)]]
    beside = ["-iquote", str(ROOT / "native/preload")]
    subprocess.run([*changed, *beside], cwd=BUILT, check=True)
    subprocess.run([there.get(word, word) for word in linking], cwd=BUILT, check=True)
    return made / Path(target).name


# The defects that this stress was written for, by small changes that bring each one back.
FAULTS = {
    "a hole in a mapping is the kernel's": (
        "prezero",
        "prezero.c",
        "return okosu_next.mmap(from, (size_t)(to - from), PROT_NONE,",
        "return !okosu_next.munmap(from, (size_t)(to - from)); return okosu_next.mmap(from, 0, PROT_NONE,",
    ),
    "pages of other mappings are counted": (
        "prezero",
        "prezero.c",
        "size_t page = (size_t)(from - start) / PAGE, end",
        "size_t page = (size_t)(from - start) / PAGE / 2, end",
    ),
    "what was mapped into a block is kept with it": (
        "preload",
        "large.c",
        "    uint32_t i, length = c->length;\n\n",
        "    uint32_t i, length = c->length;\n\n    return false;\n",
    ),
    "memcpy is not memmove": (
        "copy",
        "copy_hooks.c",
        "route(okosu_copy_move, okosu_set);",
        "route(okosu_copy, okosu_set);",
    ),
    "a fork takes the lock of malloc first": (
        "preload",
        "init.c",
        "    handle_forks();\n    if (!okosu_next.register_atfork)",
        "    okosu_next_resolve();\n    if (!okosu_next.register_atfork)",
    ),
    "a child of fork never comes back": (
        "preload",
        "init.c",
        "    after_fork(true);\n",
        "    for (;;)\n        pause();\n    after_fork(true);\n",
    ),
    "malloc is a cancellation point": (
        "preload",
        "policy.c",
        "    okosu_lock_take(&start_lock);\n    if (atomic_load(&started))",
        "    okosu_lock_take(&start_lock);\n    void pthread_testcancel(void);\n"
        "    pthread_testcancel();\n    if (atomic_load(&started))",
    ),
    "the pool's making is a cancellation point": (
        "prezero",
        "prezero_pool.c",
        "pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);\n    read_environment",
        "pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);\n    pthread_testcancel();\n    read_environment",
    ),
}
# What the levers are told. A copy of this name is memmove only where it is asked to be.
TOLD = {"prezero": {}, "preload": THP, "copy": {"OKOSU_COPY": "rep-line"}}


def is_found(library: Path, lever: str, seed: int) -> bool:
    """Say whether a run finds something wrong: it may also end by a signal, or not at all."""
    env = clean_environment() | TOLD[lever] | {"LD_PRELOAD": f"{eager()}:{library}"}
    done = run_alone([stress("-DSTILL_SECONDS=20"), str(seed), "60000", "2"], env, limit_s=300)
    return (done.returncode, done.stdout[-6:]) != (0, "legal\n")


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_is_built_in_is_found(fault: str) -> None:
    lever, source, old, new = FAULTS[fault]
    library = planted(lever, source, old, new)
    # What lies beside a hole differs from run to run: one finds such a fault with a chance of a half.
    assert any(is_found(library, lever, seed) for seed in range(1, 31))


@pytest.mark.long
@pytest.mark.parametrize("lever", TOLD)
def test_without_a_fault_nothing_is_found(lever: str) -> None:
    library = planted(lever, *next((source, old, old) for its, source, old, _ in FAULTS.values() if its == lever))
    assert not any(is_found(library, lever, seed) for seed in range(1, 4))
