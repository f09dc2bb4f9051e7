# SPDX-License-Identifier: Apache-2.0
"""libokosu-prezero.so under a program that checks the guarantees of malloc, mmap and fork, and under real programs."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from effort import Idleness, length, some
from preload_tool import build, probe
from zerod_tool import serving

from okosu import native

pytestmark = pytest.mark.preloads

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("OKOSU_NATIVE", ROOT / "build"))
LIBRARY = BUILT / "native/preload/libokosu-prezero.so"
CHURN = BUILT / "examples/churn"
TRIES = 4
"""The thread that clears has the lowest priority: on a busy machine it may get no processor for a while."""
TURNS = length("12", "40")
LIMIT = ("sh", "-c", 'ulimit -v 800000; exec "$0" "$@"')
"""Then the pool has 200 MiB."""
JEMALLOC = Path("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("prezero") / "check"
    source = ROOT / "tests/native/programs/prezero_check.c"
    words = ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O3", "-fno-builtin", "-w", "-o", made, source, "-lpthread"]
    subprocess.run(words, check=True, capture_output=True)
    return made


def run(*command: str | Path, preload: bool = True, first: Sequence[str | Path] = ()) -> str:
    """Run under the library; the libraries `first` are preloaded before it."""
    env = os.environ | ({"LD_PRELOAD": ":".join(map(str, [*first, LIBRARY]))} if preload else {})
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@functools.cache
def churned(rounds: str, kind: str) -> str:
    """What the example prints without the library."""
    return run(CHURN, rounds, "1", kind, preload=False)


def launch(
    tmp_path: Path, *words: str | Path, first: Sequence[str | Path] = (), env: dict[str, str] | None = None
) -> tuple[str, list[dict[str, Any]]]:
    """Run okosu-run, itself started by the command `first`; return the program's output and the pool's lines of
    evidence.
    """
    proof = tmp_path / "proof"
    proof.unlink(missing_ok=True)
    command = [*map(str, first), str(native.find("okosu-run")), "--strict", f"--proof={proof}", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in proof.read_text().splitlines()]
    return done.stdout, [line for line in lines if line.get("by") == "prezero"]


@pytest.mark.lab
@pytest.mark.alone
def test_what_malloc_mmap_and_fork_keep_is_kept(program: Path) -> None:
    """Blocks of the pool also come without a page fault, while libc's own never do."""
    turns = length("60", "300")
    assert run(program, turns, preload=False) == "blocks 0\n"
    with Idleness() as idle:
        clean = any(int(run(program, turns).split()[1]) > 0 for _ in range(TRIES))
    if not clean and idle.share < 0.5:
        pytest.skip("no CPU idled: nobody cleared blocks ahead")
    assert clean


def test_programs_print_what_they_print_without_it() -> None:
    script = "import zlib\nb = bytes(range(256)) * 30000\nfor i in range(9): c = bytearray(b) + b\nprint(zlib.crc32(c))"
    assert run(sys.executable, "-c", script) == run(sys.executable, "-c", script, preload=False)
    for kind in ("malloc", "calloc"):
        assert run(CHURN, "12", "1", kind) == churned("12", kind)


def test_a_library_that_watches_mappings_sees_what_is_taken_from_blocks() -> None:
    watching = build("registrations.so", "-shared", "-fPIC", "-fno-builtin", "registrations.c")
    env = os.environ | {"LD_PRELOAD": f"{LIBRARY}:{watching}"}
    done = subprocess.run([probe(), "library", "registrations"], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done
    assert int(done.stdout.split()[0]) > 50


@pytest.mark.parametrize("limit", ["v", "d"])
@pytest.mark.parametrize("kib", [400000, 40000])
def test_where_memory_is_limited_the_program_has_what_it_had(limit: str, kib: int) -> None:
    """A pool that took the whole address space would leave none for the program: it may take at most a quarter."""
    limited = f"ulimit -{limit} {kib}; exec {CHURN} 5 1 calloc; exit 1"
    shell = ["sh", "-c", limited]
    without = subprocess.run(shell, capture_output=True, text=True, check=False)
    env = os.environ | {"LD_PRELOAD": str(LIBRARY)}
    done = subprocess.run(shell, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout) == (without.returncode, without.stdout)


def test_sizes_around_a_unit_and_beyond_all_memory(program: Path) -> None:
    assert run(program, "sizes") == run(program, "sizes", preload=False) == "sizes\n"


def test_a_program_that_holds_blocks_becomes_another(program: Path) -> None:
    """The program executes another one while it holds blocks, and so does a child of fork that wrote to a block; each
    has a pool of its own afterwards.
    """
    assert run(program, "exec") == run(program, "exec", preload=False) == "sizes\nsizes\n"


def test_when_the_pool_is_exhausted_libc_goes_on(program: Path, tmp_path: Path) -> None:
    """With a limit of 400 MiB the pool may take 100 of them: the program can allocate nearly as much as without the
    pool.
    """
    limit = ("sh", "-c", 'ulimit -v 400000; exec "$0" "$@"')
    without = int(run(*limit, program, "exhausted", preload=False).split()[1])
    said, [line] = launch(tmp_path, "--prezero", "--", program, "exhausted", first=limit)
    assert without > 250
    assert without - 64 <= int(said.split()[1]) <= without
    # Both turns used the whole pool; blocks that are too large for it, or came later, were libc's.
    assert 2 * 75 << 20 < line["bytes"] < 2 * 100 << 20
    assert line["passed"] > 0


def test_what_is_much_of_the_pool_is_libcs(tmp_path: Path) -> None:
    """The limit is an eighth: of a pool of 200 MiB, blocks of 24 MiB are served and blocks of 40 MiB are not."""
    code = "for i in range(9): b = bytes({} << 20)"
    python = ("--prezero", "--", sys.executable, "-S", "-c")
    _, [line] = launch(tmp_path, *python, code.format(40), first=LIMIT)
    assert (line["blocks"], line["passed"]) == (0, 9)
    _, [line] = launch(tmp_path, *python, code.format(24), first=LIMIT)
    assert line["blocks"] == 8


def test_what_was_protected_is_not_written_to(program: Path) -> None:
    assert run(program, "protected") == "protected\n"


@pytest.mark.privileged
@pytest.mark.parametrize("late", [(), ("late",)])
def test_a_program_that_locks_all_its_memory_locks_no_more(late: tuple[str, ...], program: Path) -> None:
    """Only root may lock as much as the program does."""
    assert run(program, "locked", *late) == run(program, "locked", *late, preload=False)


@pytest.mark.parametrize("broker", some([False, True], 1))
@pytest.mark.parametrize("mode", ["tail", "moved", "fixed", "emptied", "neighbours"])
def test_the_parts_of_a_mapping_may_be_unmapped_moved_and_mapped_over(mode: str, broker: bool, tmp_path: Path) -> None:
    """What lies beside keeps its content, and the pool of 200 MiB does not lose the addresses."""
    holes = build("prezero-holes", "prezero_holes.c")
    env = os.environ | {"LD_PRELOAD": str(build("eager-worker.so", "-shared", "-fPIC", "eager_worker.c"))}
    with serving("--cap=128M") as daemon:
        lever = ("--no-fork", f"--prezero=broker:{daemon.socket}") if broker else ("--prezero",)
        said, [line] = launch(tmp_path, *lever, "--", holes, mode, TURNS, first=LIMIT, env=env)
    assert said.split()[0] == mode
    if mode == "moved":
        assert line["blocks"] - int(said.split()[1]) > 45


SPLIT = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void *mremap(void *old, size_t from, size_t to, int flags, ...)
{
    va_list more;
    void *at;
    va_start(more, flags);
    at = va_arg(more, void *);
    va_end(more);
    if (flags & 4 /* MREMAP_DONTUNMAP */) {
        errno = EFAULT;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mremap, old, from, to, flags, at);
}
"""


def test_a_block_that_the_kernel_keeps_as_several_mappings_moves(compiled: Callable[..., Path]) -> None:
    """The kernel moves no more than one of its mappings; whether it has merged a block's is a matter of luck."""
    holes = build("prezero-holes", "prezero_holes.c")
    eager = build("eager-worker.so", "-shared", "-fPIC", "eager_worker.c")
    split = compiled(SPLIT, "-shared", "-fPIC")
    env = os.environ | {"LD_PRELOAD": f"{eager}:{LIBRARY}:{split}"}
    done = subprocess.run([*LIMIT, holes, "moved", TURNS], capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout.split()[:1]) == (0, ["moved"]), done.stdout + done.stderr


@pytest.mark.parametrize("how", ["file", "moved", "moved-away", "none", "unmapped", "no-fork", "shm", "bound"])
def test_what_a_program_does_to_its_block_ends_with_the_block(how: str) -> None:
    eager = build("eager-worker.so", "-shared", "-fPIC", "eager_worker.c")
    run(probe(), "foreign", how, "4", first=[eager])


@pytest.mark.parametrize("mode", ["cancelled", "advised", "pinned", "children", "namespaces"])
def test_what_a_program_does_to_itself_works_as_without_it(mode: str) -> None:
    process = build("prezero-process", "prezero_process.c", "-lpthread")
    eager = build("eager-worker.so", "-shared", "-fPIC", "eager_worker.c")
    assert run(process, mode, first=[eager]) == run(process, mode, preload=False) == f"{mode}\n"


def test_descriptors_that_get_the_numbers_of_the_brokers_are_left_alone(tmp_path: Path) -> None:
    process = build("prezero-process", "prezero_process.c", "-lpthread")
    env = os.environ | {"LD_PRELOAD": str(build("eager-worker.so", "-shared", "-fPIC", "eager_worker.c"))}
    with serving("--cap=256M") as daemon:
        lever = ("--no-fork", f"--prezero=broker:{daemon.socket}")
        said, _ = launch(tmp_path, *lever, "--", process, "descriptors", env=env)
    assert said == run(process, "descriptors", preload=False) == "descriptors\n"


def test_other_allocators_serve_as_before() -> None:
    """An allocator that is preloaded before the library keeps malloc, and so does one inside the program."""
    counting = build("libcounting-prezero.so", "-shared", "-fPIC", "counting_malloc.c", "-ldl")
    for first in [[counting], *([[JEMALLOC]] if JEMALLOC.exists() else [])]:
        assert run(CHURN, "12", "1", "calloc", first=first) == churned("12", "calloc")


def test_the_evidence_adds_up(tmp_path: Path) -> None:
    said, [line] = launch(tmp_path, "--prezero", "--", CHURN, "20", "1", "calloc")
    assert said == churned("20", "calloc")
    # The first block is libc's, because a program with only one block has none that comes back.
    assert line["blocks"] + line["passed"] == 20
    assert line["passed"] >= 1
    assert line["clean"] + line["cleared"] <= line["there"] <= line["bytes"]
    assert line["there"] > line["bytes"] // 2


def test_what_needs_no_zeros_is_not_cleared(tmp_path: Path) -> None:
    _, [line] = launch(tmp_path, "--prezero", "--", CHURN, "40")
    assert line["cleared"] == 0
    assert line["there"] > line["bytes"] // 2


def test_children_ask_libc(tmp_path: Path) -> None:
    """A child of fork keeps its parent's blocks and has no pool; a child by exec has a pool of its own, or none."""
    code = "import os; a = [b'x' * (4 << 20) for i in range(4)]; p = os.fork(); b = b'y' * (4 << 20); p and os.wait()"
    _, (child, parent) = launch(tmp_path, "--prezero", "--", sys.executable, "-S", "-c", code)
    assert parent["blocks"] >= 3
    assert (child["blocks"], child["bytes"]) == (0, 0)
    nested = f"import subprocess; subprocess.run([{str(CHURN)!r}, '9'])"
    _, lines = launch(tmp_path, "--prezero", "--", sys.executable, "-S", "-c", nested)
    assert any(line["comm"] == "churn" and line["blocks"] for line in lines)
    _, lines = launch(tmp_path, "--prezero", "--children=0", "--", sys.executable, "-S", "-c", nested)
    assert not any(line["comm"] == "churn" for line in lines)


@pytest.mark.alone
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_its_thread_takes_no_cpu_that_threads_are_pinned_to(tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "seen = {}\n"
        "for turn in range(200):\n"
        "    zeros = [bytes(4 << 20) for i in range(3)]\n"
        "    for t in os.listdir('/proc/self/task'):\n"
        "        try: said = dict(l.split(':', 1) for l in open(f'/proc/self/task/{t}/status') if ':' in l)\n"
        "        except OSError: continue\n"
        "        seen[said['Name'].strip()] = int(said['Cpus_allowed'].replace(',', ''), 16).bit_count()\n"
        "    if 'okosu-zero' in seen: break\n"
        "    time.sleep(0.02)\n"
        "for name, cpus in seen.items(): print(name, cpus)"
    )
    said, _ = launch(tmp_path, "--pin=compact", "--prezero", "--", sys.executable, "-S", "-c", code)
    threads = dict(line.rsplit(" ", 1) for line in said.splitlines())
    if "okosu-zero" not in threads:
        pytest.skip("no CPU idled: the pool had no thread")
    assert int(threads.pop("okosu-zero")) == len(os.sched_getaffinity(0))
    assert set(threads.values()) == {"1"}


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one CPU: the daemon's thread has the lowest priority")
def test_a_daemons_pages_serve_where_the_program_does_not_fork(tmp_path: Path) -> None:
    socket = tmp_path / "z"
    daemon = subprocess.Popen(
        [str(native.find("okosu-zerod")), f"--socket={socket}", "--cap=256M"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert daemon.stdout is not None
        assert str(socket) in daemon.stdout.readline()
        lever = ("--no-fork", f"--prezero=broker:{socket}")
        served = 0
        while not served:
            # None of a run in which other work kept the pool's thread, which is of lowest priority, from every CPU.
            said, [line] = launch(tmp_path, *lever, "--", CHURN, "12", "1", "calloc")
            assert said == churned("12", "calloc")
            served = line["blocks"]
        command = [str(native.find("okosu-run")), "--strict", f"--prezero=broker:{socket}", "--", "true"]
        refused = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (refused.returncode, "--no-fork" in refused.stderr) == (125, True)
    finally:
        daemon.terminate()
        assert daemon.wait() == 0
    command = [str(native.find("okosu-run")), "--strict", "--no-fork", f"--prezero=broker:{socket}", "--", "true"]
    gone = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (gone.returncode, "okosu-zerod --socket=" in gone.stderr) == (125, True)


@pytest.mark.parametrize("children", ["0", "1"])
def test_the_daemon_serves_whether_or_not_children_are_served(children: str, tmp_path: Path) -> None:
    code = (
        "import os\n"
        "zeros = [bytes(4 << 20) for i in range(4)]\n"
        "for fd in range(3, 1024):\n"
        "    try: print(os.readlink(f'/proc/self/fd/{fd}').partition(':')[0])\n"
        "    except OSError: pass"
    )
    with serving("--cap=64M") as daemon:
        levers = ("--no-fork", f"--prezero=broker:{daemon.socket}", f"--children={children}")
        said, _ = launch(tmp_path, *levers, "--", sys.executable, "-S", "-c", code)
    assert "socket" in said.split()


def test_levers_that_serve_the_same_blocks_exclude_it() -> None:
    for other in ("--superpage=thp", "--retain"):
        command = [str(native.find("okosu-run")), "--strict", "--prezero", other, "--", "true"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 125
        assert f"--skip={other.strip('-').partition('=')[0]}" in done.stderr
