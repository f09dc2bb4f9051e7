# SPDX-License-Identifier: Apache-2.0
"""The lever threads: legal programs that could tell a thread that was used before from a new one, and those for which
the lever steps aside. Each runs without the lever, too, which shows that it is legal here.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from preload_tool import PROGRAMS, build, clean_environment

from okosu import native

pytestmark = pytest.mark.preloads

ON = ("--strict", "--threads")

SERVED = {"results", "variables", "keys", "rounding", "names", "joins", "clocks"}
"""Cases of threads_legal.c whose threads can be started again."""
LEGAL = sorted(SERVED | {"ends", "signals", "robust", "forking", "first-exits"})

CLOSED = {
    "affinity-of-process": "the program called sched_setaffinity",
    "affinity-of-thread": "the program called pthread_setaffinity_np",
    "affinity-by-number": "the program changed a thread by a system call",
    "affinity-of-creator": "the program called sched_setaffinity",
    "policy": "the program called sched_setscheduler",
    "filters": "the program changed a thread by prctl",
    "folders": "the program called unshare",
    "limits": "a thread has what parked ones would not inherit",
}
"""Cases of threads_left.c after which every thread is glibc's, and why."""
UNSERVED = {"detached", "pauses", "executes", "executes-from-thread", "privileges"}
"""Those of which no served start is told: the threads have forked or waited for too long, or whoever tells is another
program, or a user who may not write it.
"""
LEFT = sorted(
    CLOSED.keys()
    | UNSERVED
    | {"arithmetic", "c11-threads", "cancel-type", "clocks", "controls", "crowds", "depths", "destructors"}
    | {"ends-unseen", "error-numbers", "exit-from-thread", "identity", "libraries", "mixtures", "processes"}
    | {"signal-stack", "stacks"}
)


def launch(folder: Path, *words: str | Path, env: Mapping[str, str] = {}) -> subprocess.CompletedProcess[str]:
    command = [native.find("okosu-run"), f"--proof={folder / 'proof'}", *words]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, env=clean_environment() | env
    )


def evidence(folder: Path) -> dict[str, Any]:
    """What the program's last process tells of its threads; {} where it tells nothing."""
    proof = folder / "proof"
    lines = [json.loads(line) for line in proof.read_text().splitlines() if line] if proof.exists() else []
    told: dict[str, Any] = next((line for line in reversed(lines) if line.get("by") == "threads"), {})
    return told


def alike(folder: Path, *words: str | Path, env: Mapping[str, str] = {}) -> dict[str, Any]:
    """Check that the program ends well with the lever as without, and return what the lever tells."""
    base = launch(folder, "--", *words, env=env)
    if base.returncode:
        pytest.skip(f"it does not run here without the lever either: {base.stderr.strip()}")
    (folder / "proof").unlink(missing_ok=True)
    made = launch(folder, *ON, "--", *words, env=env)
    assert (made.returncode, made.stdout, made.stderr) == (0, base.stdout, base.stderr)
    return evidence(folder)


def legal() -> Path:
    return build("threads-legal", "threads_legal.c", "-lm", "-lpthread")


def left() -> tuple[Path, Path]:
    """The program, and the folder with the library that it loads."""
    library = build("threads_library.so", "-shared", "-fPIC", "threads_library.c")
    return build("threads-left", "threads_left.c", "-lpthread", "-ldl"), library.parent


@pytest.mark.parametrize("case", LEGAL)
def test_a_used_thread_is_as_a_new_one(case: str, tmp_path: Path) -> None:
    told = alike(tmp_path, legal(), case)
    assert told["served"] or case not in SERVED, told


@pytest.mark.parametrize("case", LEFT)
def test_what_a_thread_leaves_behind_is_not_found(case: str, tmp_path: Path) -> None:
    program, folder = left()
    told = alike(tmp_path, program, case, folder)
    if case in CLOSED:
        assert told["closed"] == CLOSED[case]
    else:
        assert case in UNSERVED or told["closed"] or told["served"], told


def test_every_case_of_the_programs_is_run() -> None:
    listed = subprocess.run([left()[0]], capture_output=True, text=True, check=False).stdout.split()
    assert sorted(listed) == LEFT


def test_objects_of_cxx(tmp_path: Path) -> None:
    if not shutil.which("c++"):
        pytest.skip("no C++ compiler here")
    program = tmp_path / "objects"
    source = PROGRAMS / "threads_objects.cpp"
    subprocess.run(["c++", "-O1", "-g1", source, "-o", program, "-lpthread"], check=True)
    assert alike(tmp_path, program)["served"]


@pytest.mark.parametrize("library", ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"])
def test_another_malloc_with_variables_of_each_thread(library: str, tmp_path: Path) -> None:
    path = Path("/usr/lib/x86_64-linux-gnu", library)
    if not path.exists():
        pytest.skip(f"{library} is not installed")
    program, folder = left()
    for words in ([legal(), "variables"], [legal(), "keys"], [program, "mixtures", folder]):
        assert alike(tmp_path, *words, env={"LD_PRELOAD": str(path)})["served"]


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({"GLIBC_TUNABLES": "glibc.pthread.rseq=0"}, "libc has no restartable sequences"),
        ({"LD_AUDIT": "set below"}, "libraries are loaded into another namespace (dlmopen, LD_AUDIT)"),
        ({}, "another library serves threads too"),
    ],
    ids=["rseq", "audit", "neighbour"],
)
def test_it_steps_aside_for(env: dict[str, str], why: str, tmp_path: Path) -> None:
    program = legal()
    if not env:
        neighbour = build("threads-neighbour.so", "-shared", "-fPIC", "threads_neighbour.c", "-ldl")
        program = build("threads-beside", "threads_legal.c", "-Wl,--no-as-needed", str(neighbour), "-lm", "-lpthread")
    if "LD_AUDIT" in env:
        env = {"LD_AUDIT": str(tmp_path / "audit.so")}
        command = ["cc", "-shared", "-fPIC", "-xc", "-", "-o", env["LD_AUDIT"]]
        subprocess.run(command, input="unsigned la_version(unsigned v) { return v; }", text=True, check=True)
    told = alike(tmp_path, program, "results", env=env)
    assert (told["closed"], told["served"], told["made"], told["passed"]) == (why, 0, 0, 1600)


def test_a_library_before_it_sees_every_start(tmp_path: Path) -> None:
    neighbour = build("threads-neighbour.so", "-shared", "-fPIC", "threads_neighbour.c", "-ldl")
    assert alike(tmp_path, legal(), "results", env={"LD_PRELOAD": str(neighbour)})["served"]


def test_it_steps_aside_in_a_small_address_space(tmp_path: Path) -> None:
    limited = ["/bin/sh", "-c", 'ulimit -v 4000000; exec "$0" "$@"']
    told = alike(tmp_path, *limited, legal(), "results")
    assert told["closed"].startswith("the address space is limited")
    assert told["served"] == 0


def test_it_steps_aside_under_valgrind(tmp_path: Path) -> None:
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    told = alike(tmp_path, "valgrind", "-q", legal(), "rounding-none")
    # The case does not exist, so that the program ends at once, with a status of its own.
    assert told == {} or told["served"] == 0


@pytest.mark.parametrize("flag", ["address", "thread"])
def test_a_sanitized_program_runs_without_it(flag: str, tmp_path: Path) -> None:
    program = tmp_path / "sanitized"
    command = ["cc", f"-fsanitize={flag}", "-D_GNU_SOURCE", "-o", str(program), str(PROGRAMS / "threads_legal.c")]
    if subprocess.run([*command, "-lm", "-lpthread"], capture_output=True, check=False).returncode:
        pytest.skip(f"no -fsanitize={flag} here")
    made = launch(tmp_path, "--threads", "--", program, "no-such-case")
    assert made.returncode == 2, made.stderr
    assert "whose runtime replaces the same functions" in made.stderr


@pytest.mark.parametrize("how", ["static", "musl", "setuid"])
def test_what_cannot_be_preloaded_is_refused(how: str, tmp_path: Path) -> None:
    program, source = tmp_path / "program", tmp_path / "program.c"
    source.write_text("int main(void) { return 7; }")
    if how == "musl" and not shutil.which("musl-gcc"):
        pytest.skip("no musl-gcc here (Debian's musl-tools)")
    compiler = ["musl-gcc"] if how == "musl" else ["cc", "-static"] if how == "static" else ["cc"]
    subprocess.run([*compiler, "-o", program, source], check=True)
    if how == "setuid":
        program.chmod(0o4755)
    made = launch(tmp_path, "--threads", "--", program)
    assert made.returncode == 7
    assert "threads=on not applied" in made.stderr
    assert launch(tmp_path, *ON, "--", program).returncode == 125


def test_it_is_not_stacked_with_pin(tmp_path: Path) -> None:
    made = launch(tmp_path, "--pin", "--threads", "--", "/bin/true")
    assert "threads=on not applied" in made.stderr
    assert "pin serves the same threads" in made.stderr


def test_what_a_library_of_okosus_does_to_its_own_thread_ends_with_the_thread(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """As the worker of prezero does, which takes the lowest priority."""
    library = tmp_path / "libokosu-probe.so"
    source = "#include <sched.h>\nint lower(void) { struct sched_param p = {0}; return sched_setscheduler(0, 5, &p); }"
    command = ["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-xc", "-", "-o", str(library)]
    subprocess.run(command, input=source, text=True, check=True)
    # Python's threads are detached: the next may start before the one that has ended is parked.
    program = compiled(
        """
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <sched.h>
        #include <stdio.h>
        int lower(void);
        static void *lowers(void *seen) { *(int *)seen |= sched_getscheduler(0); lower(); return NULL; }
        static void *nothing(void *seen) { return seen; }
        int main(void)
        {
            void *(*const routines[])(void *) = {lowers, lowers, lowers, nothing, nothing, lowers};
            int seen = 0;

            for (int i = 0; i < 6; i++) {
                pthread_t id;

                pthread_create(&id, NULL, routines[i], &seen);
                pthread_join(id, NULL);
            }
            return printf("%d\\n", seen) < 0;
        }
        """,
        "-xnone",
        str(library),
        "-lpthread",
    )
    told = alike(tmp_path, program)
    assert told["closed"] == ""
    assert told["served"]
