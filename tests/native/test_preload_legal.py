# SPDX-License-Identifier: Apache-2.0
"""Unusual but legal programs, which glibc runs without fault, under the preload library."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from effort import some
from preload_tool import (
    HUGETLB,
    PRELOAD_SOURCES,
    PROBE_SOURCES,
    RETAIN,
    THP,
    build,
    clean_environment,
    every_mode,
    folder,
    passed,
    probe,
    run,
)

from okosu import native

pytestmark = pytest.mark.preloads

NO_PROOF = {"OKOSU_PROOF": ""}

HOOKED = ("file", "moved", "moved-away", "none", "unmapped", "no-fork", "shm", "bound")


# Without a lever the blocks are libc's: the last third says whether the program is right.
@pytest.mark.parametrize("levers", some([RETAIN, THP, {}], 1))
@pytest.mark.parametrize(
    ("how", "size"), [*((how, size) for how in HOOKED for size in (4, 33)), ("raw", 33), ("raw-none", 33)]
)
def test_what_a_program_does_to_its_block_ends_with_the_block(levers: dict[str, str], how: str, size: int) -> None:
    """Pages of a file, a protection or a hole in a freed block do not come back in the next one."""
    passed(run("foreign", how, size, levers=levers))


@pytest.mark.parametrize("how", ["file", "none"])
@pytest.mark.parametrize(("kind", "size"), [("dynamic", 4), ("dynamic", 33), ("static", 33)])
def test_what_a_program_does_to_its_block_ends_with_it_under_retain_alone(how: str, kind: str, size: int) -> None:
    program = (
        probe() if kind == "dynamic" else build("probe-static-threads", "-static", "-w", *PROBE_SOURCES, "-lpthread")
    )
    command = [native.find("okosu-run"), "--strict", "--retain", "--", program, "foreign", how, str(size)]
    subprocess.run(command, check=True, env=clean_environment())


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
    passed(run("strict", "prctl", preload=False))
    passed(run("strict", "prctl", levers=levers | NO_PROOF))
    passed(run("strict", "prctl", levers=levers | NO_PROOF | {"OKOSU_ROOT_PID": "1"}))


@every_mode
@pytest.mark.parametrize("how", ["prctl", "libseccomp"])
def test_a_filter_that_kills_gets_its_proof_all_the_same(levers: dict[str, str], how: str) -> None:
    """The lines were mapped when the filter was installed; what comes after is counted too."""
    libseccomp = build("seccomp-load.so", "-shared", "-fPIC", "seccomp_load.c")
    [line] = passed(run("strict", how, levers=levers, behind=libseccomp)).evidence
    assert line["blocks"] == (2 if levers else 0)
    [line] = passed(run("strict", how, "late", levers=levers, behind=libseccomp)).evidence
    assert line["blocks"] == (1 if levers else 0)
    ran = passed(run("strict", how, "fork", levers=levers | {"OKOSU_VERBOSE": "1"}, behind=libseccomp))
    assert len(ran.evidence) == 1, "a child that was forked behind the filter leaves no line"
    assert ran.stderr.count("threads pinned") == 1


@pytest.mark.parametrize("lever", ["--copy", "--prezero", "--pin=list:0"])
@pytest.mark.parametrize("what", ["early", "late", "fork"])
def test_a_filter_that_kills_gets_the_lines_of_each_lever(lever: str, what: str, tmp_path: Path) -> None:
    command = [native.find("okosu-run"), "--strict", lever, "--proof=proof", "--", probe(), "strict", "prctl", what]
    subprocess.run(command, check=True, env=clean_environment(), cwd=tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "proof").read_text().splitlines() if line]
    assert [line.get("by", "pin") for line in lines] == ["pin", *({lever[2:]} & {"copy", "prezero"})]


@every_mode
def test_exit_on_a_small_signal_stack(levers: dict[str, str]) -> None:
    assert run("small-stack", preload=False).returncode == 3
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


REGISTRATIONS = ("registrations.so", "-shared", "-fPIC", "-fno-builtin", "registrations.c")


@pytest.mark.parametrize("levers", [THP, RETAIN, HUGETLB], ids=["thp", "retain", "hugetlb"])
def test_a_library_that_watches_mappings_sees_what_is_taken_from_blocks(levers: dict[str, str]) -> None:
    """UCX and Open MPI watch so; what they do not see leaves a network adapter with pages that are no longer ours."""
    registered, ended = (
        int(word) for word in passed(run("library", "registrations", levers=levers, behind=build(*REGISTRATIONS))).words
    )
    assert registered > 50
    assert 10 < ended <= registered


def deep_program() -> Path:
    # Its RUNPATH is where the libraries are made, too.
    return build("deepbind", "-fno-builtin", "deepbind.c", "-Wl,--enable-new-dtags,-rpath,$ORIGIN", "-lpthread", "-ldl")


def deep_library(how: str) -> Path:
    options = {"now": ["-Wl,-z,now,-z,relro"], "lazy": ["-Wl,-z,lazy"], "own": ["-DOWN"], "other": []}[how]
    return build(f"deepbind-{how}.so", "-shared", "-fPIC", "-fno-builtin", *options, "deepbind_library.c")


@pytest.mark.parametrize("how", ["now", "lazy", "own"])
@pytest.mark.parametrize("levers", [THP, RETAIN, {}], ids=["thp", "retain", "placebo"])
def test_blocks_pass_to_and_from_a_library_that_is_bound_to_libc(levers: dict[str, str], how: str) -> None:
    [line] = passed(run(deep_library(how), how, levers=levers, program=deep_program())).evidence
    assert (line["blocks"] > 0) is bool(levers)
    assert not line["reasons"]


@pytest.mark.parametrize("levers", [THP, {}], ids=["thp", "placebo"])
def test_a_library_by_a_mere_name_is_searched_for_as_its_caller_says_and_blocks_are_then_libcs(
    levers: dict[str, str],
) -> None:
    """What was allocated before is ours still, and what the other library was given and gives back."""
    other = deep_library("other").name
    ran = passed(run(deep_library("now"), "now", other, levers=levers, program=deep_program()))
    assert ran.evidence[-1]["blocks"] == (1 if levers else 0)
    assert any("a library was loaded" in reason for reason in ran.evidence[-1]["reasons"]) is bool(levers)


@pytest.mark.parametrize("source", ["hooks.c", "prezero_hooks.c"])
def test_a_new_hook_of_memory_is_bound_in_deep_bound_libraries_too(source: str) -> None:
    bound = set(re.findall(r'^    "(\w+)",$', (PRELOAD_SOURCES / "deepbind.c").read_text(), re.MULTILINE))
    hooked = set(re.findall(r"^OKOSU_EXPORT .*?(\w+)\(", (PRELOAD_SOURCES / source).read_text(), re.MULTILINE))
    # The first is libnuma's; the others make no block and change none.
    assert hooked - bound <= {"mbind", "mlockall", "setns", "unshare"}
    assert len(hooked & bound) > 10


@pytest.mark.parametrize("how", ["now", "lazy", "own"])
@pytest.mark.parametrize("more", [[], ["deepbind-other.so"]], ids=["path", "name"])
def test_blocks_of_prezero_pass_to_and_from_a_library_that_is_bound_to_libc(how: str, more: list[str]) -> None:
    deep_library("other")
    words = [native.find("okosu-run"), "--strict", "--prezero", "--", deep_program(), deep_library(how), how, *more]
    subprocess.run(words, check=True, env=clean_environment())


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
@pytest.mark.long
def test_a_program_with_its_own_allocator_under_a_build_by_clang() -> None:
    """reallocarray is this library's, for the program has none, but must call the program's realloc."""
    program = build("own-malloc", "-fno-builtin", "own_malloc.c")
    for library in (native.find("libokosu-preload.so"), built_by_clang()):
        env = clean_environment() | THP | {"LD_PRELOAD": str(library)}
        subprocess.run([program], env=env, check=True)
