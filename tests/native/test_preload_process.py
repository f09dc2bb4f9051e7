# SPDX-License-Identifier: Apache-2.0
"""Processes under the preload library: forks, other libraries, ways to end, and what children inherit."""

from __future__ import annotations

import os
import pwd
import resource
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from effort import some
from preload_tool import (
    HUGETLB,
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

LIBRARY = "libokosu-preload.so"


@pytest.mark.parametrize("levers", some([RETAIN, THP, HUGETLB, {}]))
def test_fork_while_other_threads_allocate(levers: dict[str, str]) -> None:
    passed(run("forks", "15", levers=levers))


@every_mode
def test_fork_handlers_that_allocate(levers: dict[str, str]) -> None:
    passed(run("atfork", levers=levers))


@every_mode
@pytest.mark.parametrize("children", ["0", "1"])
def test_every_way_of_starting_a_program(levers: dict[str, str], children: str) -> None:
    passed(run("spawns", levers=levers | {"OKOSU_CHILDREN": children}, root=True))


@every_mode
def test_a_loaded_library_with_thread_local_data(levers: dict[str, str]) -> None:
    library = build("tls.so", "-shared", "-fPIC", "tls_library.c")
    passed(run("load", library, levers=levers))


def test_another_allocator_behind() -> None:
    counting = build("counting.so", "-shared", "-fPIC", "-fno-builtin", "counting_malloc.c")
    alone = passed(run("torture", "1", "300", preload=False, behind=counting, levers={"COUNTING_FD": "1"}))
    placebo = passed(run("torture", "1", "300", behind=counting, levers={"COUNTING_FD": "1"}))
    active = passed(run("torture", "1", "300", behind=counting, levers=RETAIN | {"COUNTING_FD": "1"}))
    assert placebo.words == alone.words, "an inert hook changed what the allocator behind it sees"
    calls, largest = (int(word) for word in active.words)
    assert 0 < calls < int(alone.words[0])
    assert largest < 2 << 20 < int(alone.words[1])


def test_a_program_that_strips_itself_still_leaves_evidence() -> None:
    ran = passed(run("strip", levers=THP))
    assert [line["blocks"] > 0 for line in ran.evidence] == [True]


def test_a_relative_proof_path_survives_chdir() -> None:
    where = folder() / "relative.jsonl"
    passed(run("strip", levers=THP | {"OKOSU_PROOF": where.name}, cwd=folder()))
    assert where.read_text().count("\n") == 1
    where.unlink()


@pytest.mark.parametrize(("how", "status"), [("_exit", 3), ("_Exit", 3), ("quick_exit", 3), ("4", 4)])
def test_one_line_for_each_way_to_end(how: str, status: int) -> None:
    ran = run("exit", how, levers=THP)
    assert (ran.returncode, ran.stdout, ran.stderr) == (status, "", "")
    assert [line["comm"] for line in ran.evidence] == ["probe"]


def test_a_killed_program_leaves_no_line() -> None:
    ran = run("exit", "kill", levers=THP)
    assert ran.returncode == -9
    assert ran.evidence == []


def test_a_file_size_limit_does_not_change_the_end() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    ran = run("exit", "5", levers=THP, before=limit)
    assert (ran.returncode, ran.evidence) == (5, [])


@pytest.mark.parametrize("where", ["/nonexistent/x", "/dev/full", "/", "/proc/version"])
def test_a_proof_that_cannot_be_written(where: str) -> None:
    ran = run("exit", "6", levers=THP | {"OKOSU_PROOF": where})
    assert (ran.returncode, ran.stdout, ran.stderr) == (6, "", "")


def test_silent_unless_asked() -> None:
    quiet = passed(run("torture", "1", "300", levers=THP | {"OKOSU_BUDGET": "0"}))
    assert (quiet.stdout, quiet.stderr) == ("", "")
    loud = passed(run("torture", "1", "300", levers=THP | {"OKOSU_BUDGET": "0", "OKOSU_VERBOSE": "1"}))
    assert loud.stdout == ""
    lines = loud.stderr.splitlines()
    assert 1 <= len(lines) <= 9
    assert all(line.startswith("okosu: ") for line in lines)


def test_children_inherit_by_default() -> None:
    ran = passed(run("fork-once", levers=THP, root=True))
    child, parent = ran.evidence
    assert child["pid"] != parent["pid"]
    assert child["blocks"] == 2
    assert (parent["forked"], child["forked"]) == (True, False)


def test_children_zero_makes_forked_children_inert() -> None:
    ran = passed(run("fork-once", levers=THP | {"OKOSU_CHILDREN": "0"}, root=True))
    child, parent = ran.evidence
    assert child["blocks"] == 0
    assert parent["blocks"] >= 3


def test_children_zero_cleans_the_environment() -> None:
    other = build("tls.so", "-shared", "-fPIC", "tls_library.c")
    levers = THP | {"OKOSU_CHILDREN": "0", "OKOSU_PAD": "x" * 99, "OKOSU_TUNABLES": "glibc.malloc.hugetlb=1"}
    levers["GLIBC_TUNABLES"] = "glibc.malloc.perturb=0:glibc.malloc.hugetlb=1"
    ran = passed(run("environ", "env", levers=levers, root=True, behind=other))
    assert "OKOSU_" not in ran.stdout
    assert LIBRARY not in ran.stdout
    assert ran.words.count(f"LD_PRELOAD={other}") == 2, "the user's own preload was lost"
    assert ran.words.count("GLIBC_TUNABLES=glibc.malloc.perturb=0") == 2
    assert [line["comm"] for line in ran.evidence] == ["probe"], "a child was preloaded too"


def test_a_process_that_is_not_the_root_keeps_its_environment() -> None:
    levers = THP | {"OKOSU_CHILDREN": "0", "OKOSU_ROOT_PID": "1"}
    ran = passed(run("environ", levers=levers))
    assert "OKOSU_SUPERPAGE=thp" in ran.words
    assert ran.evidence[-1]["superpage"] == ""


def test_a_fork_breaks_the_promise_of_hugetlb() -> None:
    ran = passed(run("fork-once", levers=HUGETLB))
    parent = ran.evidence[-1]
    assert parent["forked"] is True
    assert any("forked although" in reason for reason in parent["reasons"])


def test_nothing_in_the_evidence_of_a_placebo() -> None:
    ran = passed(run("torture", "1", "300"))
    assert ran.evidence == [
        {
            "pid": ran.evidence[0]["pid"],
            "comm": "probe",
            "superpage": "",
            "blocks": 0,
            "mmaps": 0,
            "advised_bytes_peak": 0,
            "advised_bytes_total": 0,
            "huge_first_chunks": 0,
            "populated_bytes": 0,
            "retained_hits": 0,
            "threads_pinned": 0,
            "pins": "",
            "reasons": {},
            "forked": False,
        }
    ]


@pytest.mark.parametrize("bad", ["OKOSU_SUPERPAGE", "OKOSU_BUDGET", "OKOSU_DENSITY", "OKOSU_PIN"])
def test_a_value_that_means_nothing_is_recorded(bad: str) -> None:
    ran = passed(run("exit", "0", levers=THP | {bad: "nonsense"}))
    assert ran.evidence[-1]["reasons"]["a variable OKOSU_* has a value that means nothing: ignored"] == 1


def test_a_static_program_is_unaffected() -> None:
    static = build("probe-static", "-static", "-fno-builtin-malloc", "-Wl,--no-warnings", *PROBE_SOURCES)
    ran = passed(run("torture", "1", "200", levers=THP, program=static))
    assert ran.evidence == []


def test_a_setuid_program_is_unaffected() -> None:
    proof = folder() / "setuid.jsonl"
    env = clean_environment() | THP | {"LD_PRELOAD": str(native.find(LIBRARY)), "OKOSU_PROOF": str(proof)}
    if os.geteuid() == 0:
        program = folder() / "probe-setuid"
        shutil.copy(probe(), program)
        program.chmod(0o4755)
        nobody = pwd.getpwnam("nobody").pw_uid
        done = subprocess.run([program, "calloc"], env=env, user=nobody, capture_output=True, check=False)
    else:
        found = [Path(p) for p in ("/usr/bin/su", "/usr/bin/passwd", "/bin/su") if Path(p).exists()]
        setuid = [p for p in found if p.stat().st_mode & stat.S_ISUID and p.stat().st_uid == 0]
        if not setuid:
            pytest.skip("not root, and no setuid program here")
        done = subprocess.run([setuid[0], "--help"], env=env, capture_output=True, check=False)
    assert done.returncode in (0, 6), done.stderr  # passwd --help ends with 6
    assert not proof.exists()
    assert b"okosu" not in done.stderr
