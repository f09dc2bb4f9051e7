# SPDX-License-Identifier: Apache-2.0
"""Unusual but legal programs, which glibc runs without fault, under the preload library."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from preload_tool import HUGETLB, MODES, RETAIN, THP, build, clean_environment, folder, passed, run

from okosu import native

every_mode = pytest.mark.parametrize("levers", MODES.values(), ids=MODES.keys())
NO_PROOF = {"OKOSU_PROOF": ""}

HOOKED = ("file", "moved", "moved-away", "none", "unmapped", "no-fork")


@pytest.mark.parametrize("levers", [{}, THP, RETAIN], ids=["placebo", "thp", "retain"])
@pytest.mark.parametrize(
    ("how", "size"), [*((how, size) for how in HOOKED for size in (4, 33)), ("raw", 33), ("raw-none", 33)]
)
def test_what_a_program_does_to_its_block_ends_with_the_block(levers: dict[str, str], how: str, size: int) -> None:
    """Pages of a file, a protection or a hole in a freed block do not come back in the next one."""
    passed(run("foreign", how, size, levers=levers))


def test_blocks_that_were_changed_are_not_kept() -> None:
    for how in ("file", "raw"):
        ran = passed(run("foreign", how, 33, levers=RETAIN))
        reasons = ran.evidence[-1]["reasons"]
        assert any("inside a block" in reason for reason in reasons), reasons
        assert ran.evidence[-1]["retained_hits"] > 0, "the blocks that were not changed are kept"


@every_mode
@pytest.mark.parametrize("how", ["file", "raw"])
def test_a_block_with_pages_of_a_file_grows(levers: dict[str, str], how: str) -> None:
    passed(run("foreign-growth", how, levers=levers))


@every_mode
def test_malloc_is_no_cancellation_point(levers: dict[str, str]) -> None:
    passed(run("cancelled", levers=levers | {"OKOSU_VERBOSE": "1", "OKOSU_BUDGET": "0"}))
    passed(run("cancelled", levers=levers))


def test_exit_is_no_cancellation_point() -> None:
    ran = run("cancelled-exit", levers=THP)
    assert (ran.returncode, len(ran.evidence)) == (3, 1)


@every_mode
def test_no_system_call_at_the_end_unless_a_proof_is_asked_for(levers: dict[str, str]) -> None:
    passed(run("strict", preload=False))
    passed(run("strict", levers=levers | NO_PROOF))
    passed(run("strict", levers=levers | NO_PROOF | {"OKOSU_ROOT_PID": "1"}))


@every_mode
def test_exit_on_a_small_signal_stack(levers: dict[str, str]) -> None:
    ran = run("small-stack", levers=levers)
    assert (ran.returncode, len(ran.evidence)) == (3, 1)


@pytest.mark.parametrize("levers", [{}, THP, RETAIN, HUGETLB])
def test_a_fork_handler_that_waits_for_a_thread_that_allocates(levers: dict[str, str]) -> None:
    passed(
        run("library", "fork_order", levers=levers, behind=build("fork_order.so", "-shared", "-fPIC", "fork_order.c"))
    )


@pytest.mark.parametrize("levers", [{}, THP, RETAIN])
@pytest.mark.parametrize("which", range(5))
def test_aligned_blocks_in_a_small_address_space(levers: dict[str, str], which: int) -> None:
    passed(run("limited-aligned", which, preload=False))
    passed(run("limited-aligned", which, levers=levers))


@every_mode
def test_allocation_while_the_environment_changes(levers: dict[str, str]) -> None:
    passed(run("changing-environment", levers=levers))


@every_mode
def test_functions_of_c23(levers: dict[str, str]) -> None:
    """Blocks of ours may be freed by the functions that only newer libcs have, which would not know them."""
    newer = build("free_sized.so", "-shared", "-fPIC", "free_sized.c")
    passed(run("sized", behind=newer, preload=False))
    passed(run("sized", behind=newer, levers=levers))
    passed(run("sized", levers=levers))


def test_malloc_trim_gives_back_what_is_kept() -> None:
    before, after, freed = (int(word) for word in passed(run("trimmed", levers=RETAIN)).words)
    assert before >= 100 * 1024
    assert after < 20 * 1024
    assert freed == 1


def built_by_clang() -> Path:
    """The library as a build with CC=clang makes it, which may inline one exported function into another."""
    build_folder = native.find("libokosu-preload.so").parents[2]
    out = folder() / "libokosu-preload.so"
    objects = []
    for unit in json.loads((build_folder / "compile_commands.json").read_text()):
        if "libokosu-preload.so.p" not in unit["output"]:
            continue
        words = shlex.split(unit["command"])
        objects.append(str(folder() / f"{Path(unit['file']).stem}.o"))
        options = [word for word in words[1:] if word.startswith(("-I", "-D", "-U", "-f", "-O", "-std"))]
        command = ["clang", *options, "-fno-diagnostics-color", "-c", unit["file"], "-o", objects[-1]]
        subprocess.run(command, cwd=build_folder, check=True)
    subprocess.run(["clang", "-shared", "-Wl,-z,now", *objects, "-o", out, "-lpthread", "-ldl"], check=True)
    return out


@pytest.mark.skipif(not shutil.which("clang"), reason="no clang here")
def test_a_program_with_its_own_allocator_under_a_build_by_clang() -> None:
    """reallocarray is this library's, for the program has none, but must call the program's realloc."""
    program = build("own-malloc", "-fno-builtin", "own_malloc.c")
    for library in (native.find("libokosu-preload.so"), built_by_clang()):
        env = clean_environment() | THP | {"LD_PRELOAD": str(library)}
        subprocess.run([program], env=env, check=True)
