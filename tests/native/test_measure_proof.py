# SPDX-License-Identifier: Apache-2.0
"""okosu-measure's readings of each process at its end, against allocations of known size."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from measure_tool import Tools, parse, seen
from preload_tool import huge_pages_now, thp_possible

from okosu import native
from okosu.records.measurement import Measurement

MIB = 1024
SLACK = 3 * MIB
"""KiB that libc, stacks and page tables of a small C program may add."""
TRACED = [[], ["--threads"], ["--proof=sample"]]


def holds(kib: int, mib: int) -> bool:
    return mib * MIB <= kib <= mib * MIB + SLACK


@pytest.mark.ptrace
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
@pytest.mark.parametrize("pages", ["huge", "small"])
def test_memory_at_exit(tools: Tools, pages: str, options: list[str]) -> None:
    run = tools.subject_run("hold", 64, pages, options=options)
    assert run.traced
    assert holds(run.exit.anon_kb, 64)
    assert run.exit.anon_kb <= run.exit.rss_kb <= run.exit.anon_kb + 8 * MIB
    if run.exit.anon_huge_kb < 64 * MIB and pages == "huge" and thp_possible() and not huge_pages_now(64):
        pytest.skip("the kernel has no huge pages for 64 MiB")
    assert run.exit.anon_huge_kb == (64 * MIB if pages == "huge" and thp_possible() else 0)
    assert run.exit.hugetlb_kb == 0
    (process,) = run.procs
    assert process.comm == "subject"
    assert process.anon_kb == run.exit.anon_kb
    assert process.hwm_kb >= process.rss_kb
    assert process.thp_enabled == 1
    if run.peak:
        assert run.peak.rss_kb >= run.exit.rss_kb
        assert run.peak.anon_huge_kb >= run.exit.anon_huge_kb


@pytest.mark.alone
@pytest.mark.ptrace
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
@pytest.mark.parametrize(
    ("behaviour", "status", "anon"),
    [
        (["thread-exits", 32], 7, 32),
        (["leader-leaves", 16, 1], 0, 16),
        (["leader-leaves", 16, 4], 0, 64),
        (["thread-executes", 0, 16], 0, 16),
        (["thread-executes", 30, 16], 0, 16),
        (["leader-leaves-then-exec", 0, 16], 0, 16),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_last_thread_tells(tools: Tools, behaviour: list[object], status: int, anon: int, options: list[str]) -> None:
    run = tools.subject_run(*behaviour, options=options)
    assert (run.status, run.processes, run.forks) == (status, 1, 0)
    assert holds(run.exit.anon_kb, anon)


@pytest.mark.preloads
@pytest.mark.ptrace
@pytest.mark.parametrize("options", [[], ["--proof=sample"]], ids=" ".join)
@pytest.mark.parametrize("later", [0, 30])
def test_what_a_thread_executes_is_traced_from_its_beginning(
    tools: Tools, later: int, options: list[str], tmp_path: Path
) -> None:
    """However late okosu-measure comes to seize the thread, which executes a program that ends at once."""
    late = tmp_path / "late.so"
    source = Path(__file__).parent / "measure/late_seize.c"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", source, "-o", late, "-ldl"], check=True)
    command = tools.command(tools.subject, "thread-executes", later, 16, options=options)
    done = subprocess.run(command, capture_output=True, check=False, env=os.environ | {"LD_PRELOAD": str(late)})
    run = parse(done.stdout)
    assert (run.status, run.processes, run.forks) == (0, 1, 0)
    assert holds(run.exit.anon_kb, 16)


@pytest.mark.ptrace
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
def test_sums_over_forks(tools: Tools, options: list[str]) -> None:
    run = tools.subject_run("forks", 2, 40, options=options)
    assert (run.status, run.processes, run.forks, run.left) == (0, 41, 40, 0)
    assert 80 * MIB <= run.exit.anon_kb <= 80 * MIB + 41 * 512
    assert len(run.procs) == 32
    sizes = [process.rss_kb for process in run.procs]
    assert sizes == sorted(sizes, reverse=True)
    assert all(process.anon_kb >= 2 * MIB for process in run.procs)


@pytest.mark.ptrace
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
def test_processes_are_counted_that_live_at_one_time(tools: Tools, options: list[str]) -> None:
    beside = "sleep 60 & one=$!; sleep 60 & two=$!; kill $one $two; wait"
    assert tools.run("sh", "-c", beside, options=options).at_once == 3
    in_turn = "/bin/true; /bin/true; /bin/true; exit 0"
    run = tools.run("sh", "-c", in_turn, options=options)
    assert (run.processes, run.at_once) == (4, 2)
    assert tools.run("/bin/true", options=options).at_once == 1


@pytest.mark.ptrace
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
def test_memory_shared_with_the_maker_counts_once(tools: Tools, options: list[str]) -> None:
    run = tools.subject_run("vforks", 32, 5, options=options)
    assert (run.status, run.processes, run.forks) == (0, 6, 0)
    assert holds(run.exit.anon_kb, 32)
    assert len(run.procs) == 1
    spawned = tools.subject_run("spawns", 3, options=options)
    assert (spawned.status, spawned.processes, spawned.forks) == (0, 4, 0)
    assert len(spawned.procs) == 4


@pytest.mark.ptrace
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
def test_child_of_an_untraced_thread_is_found(tools: Tools, options: list[str]) -> None:
    run = seen(
        lambda patience: tools.subject_run("thread-forks", 32, patience, options=options),
        lambda run: run.processes == 2,
    )
    assert (run.status, run.processes, run.forks, run.left) == (0, 2, 1, 0)
    assert holds(run.exit.anon_kb, 32)


@pytest.mark.ptrace
def test_peak_sees_what_was_freed(tools: Tools) -> None:
    run = seen(
        lambda patience: tools.subject_run("free", 32, patience, options=["--proof=sample"]),
        lambda run: run.peak is not None and run.peak.anon_kb >= 32 * MIB,
    )
    assert run.peak is not None
    assert holds(run.peak.anon_kb, 32)
    assert run.exit.anon_kb <= SLACK
    assert run.procs[0].hwm_kb >= 32 * MIB
    assert tools.subject_run("free", 32, 1).peak is None


@pytest.mark.ptrace
def test_peak_forgets_what_ran_before_exec(tools: Tools) -> None:
    run = tools.run("sh", "-c", 'exec "$0" hold 8 small', tools.subject, options=["--proof=sample"])
    assert [process.comm for process in run.procs] == ["subject"]


@pytest.mark.ptrace
@pytest.mark.parametrize("options", [["--threads"], ["--proof=sample"]], ids=" ".join)
def test_threads_and_where_they_ran(tools: Tools, options: list[str]) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    run = seen(
        lambda patience: tools.subject_run("threads", 4, patience, options=options),
        lambda run: run.threads == 4 and set(allowed[:4]) <= set(run.procs[0].cpus_used),
    )
    (process,) = run.procs
    assert run.threads == 4
    assert {str(cpu) for cpu in allowed[:4]} <= set(process.thread_masks)
    assert set(allowed[:4]) <= set(process.cpus_used) <= set(allowed)
    assert process.cpus_allowed in process.thread_masks
    assert len(process.thread_masks) == len(set(process.thread_masks))


@pytest.mark.ptrace
def test_threads_are_left_alone_without_the_option(tools: Tools) -> None:
    run = tools.subject_run("threads", 4, 30)
    assert run.threads == 0
    assert run.procs[0].thread_masks == [run.procs[0].cpus_allowed]


@pytest.mark.ptrace
@pytest.mark.skipif(not Path("/proc/self/numa_maps").exists(), reason="a kernel without NUMA")
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
def test_nodes_and_policies(tools: Tools, options: list[str]) -> None:
    run = tools.subject_run("hold", 16, "small", options=[*options, "--numa"])
    pages = sum(run.procs[0].numa.values()) * os.sysconf("SC_PAGESIZE") // 1024
    assert holds(pages, 16)
    assert run.procs[0].policies == ["default"]
    bound = tools.subject_run("bind", 16, options=[*options, "--numa"])
    assert bound.status == 0
    assert bound.procs[0].policies == ["bind:0"]
    assert set(bound.procs[0].numa) == {"0"}
    assert tools.subject_run("bind", 16, options=options).procs[0].numa == {}


@pytest.mark.ptrace
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a) b(c", "a) b(c"),
        (b"\x01\n\t\x7f", "\x01\n\t\x7f"),
        (b'"\\', '"\\'),
        ("起こす".encode(), "起こす"),
        ("起こす".encode()[:8], "起こ\ufffd\ufffd"),
        (b"\xff\xc0\x80z", "\ufffd\ufffd\ufffdz"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    ],
)
def test_names_of_any_bytes(tools: Tools, name: bytes, shown: str) -> None:
    assert tools.subject_run("name", name.hex()).procs[0].comm == shown


@pytest.mark.ptrace
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
def test_launchers_helper_is_no_part_of_the_tree(tools: Tools, options: list[str]) -> None:
    helper = tools.folder / "okosu-run"
    if not helper.exists():
        os.link(tools.subject, helper)
    before = '"$0" hold 64 small; "$0" clock 1 60000 >/dev/null & "$1" clock 1 100'
    run = tools.run("sh", "-c", before, helper, tools.subject, options=[*options, "--files"])
    assert (run.processes, run.left) == (2, 0)
    assert run.exit.anon_kb < 16 * MIB
    assert {process.comm for process in run.procs} == {"sh", "subject"}
    assert str(helper) not in run.files
    if run.peak:
        assert run.peak.anon_kb < 16 * MIB
    # The process marked as root is the program, whatever its name is.
    assert holds(tools.run(helper, "hold", 64, "small", options=options).exit.anon_kb, 64)


def untraced(tools: Tools, options: list[str], how: str, patience: int) -> Measurement:
    command = tools.command(tools.subject, "free", 32, patience, options=options)
    if how == "seccomp":
        done = subprocess.run([tools.deny, *command], capture_output=True, check=True)
        assert done.stderr == b""
        return parse(done.stdout)
    inner = tools.folder / "inner"
    outer = tools.run(*command, options=[f"--stdout={inner}"])
    assert outer.status == 0
    return parse(inner.read_bytes())


@pytest.mark.ptrace
@pytest.mark.parametrize(("how", "why"), [("seccomp", "seccomp"), ("nested", "traces it already")])
def test_goes_on_where_ptrace_is_refused(tools: Tools, how: str, why: str) -> None:
    run = untraced(tools, [], how, 50)
    assert (run.status, run.traced, run.processes, run.procs[0].rss_kb) == (0, False, 1, 0)
    assert why in run.why_untraced
    assert run.wall_ns >= 50_000_000
    assert (run.stopped_ns, run.peak) == (0, None)
    sampled = seen(
        lambda patience: untraced(tools, ["--proof=sample", "--numa"], how, patience),
        lambda run: bool(run.procs) and run.procs[0].anon_kb >= 32 * MIB,
    )
    assert (sampled.traced, sampled.status) == (False, 0)
    assert sampled.peak is not None
    assert holds(sampled.peak.anon_kb, 32)
    assert sampled.procs[0].comm == "subject"
    assert holds(sampled.procs[0].anon_kb, 32)
    assert sampled.procs[0].thread_masks == [sampled.procs[0].cpus_allowed]


@pytest.mark.ptrace
def test_unprivileged(tools: Tools) -> None:
    if os.geteuid() == 0:
        done = subprocess.run(
            tools.command(tools.subject, "forks", 8, 3), capture_output=True, check=True, user=65534, group=65534,
            extra_groups=[],
        )  # fmt: skip
        run = parse(done.stdout)
    else:
        run = tools.subject_run("forks", 8, 3)
    assert run.traced
    assert (run.status, run.processes) == (0, 4)
    assert holds(run.exit.anon_kb, 24)


@pytest.mark.ptrace
@pytest.mark.parametrize("options", TRACED, ids=" ".join)
def test_threads_that_execute_never_hang_it(tools: Tools, options: list[str]) -> None:
    # A careless tracer occasionally deadlocks here, because leader, siblings and exec end at the same time.
    for delay in (0, 1, 2, 3):
        for behaviour in ("thread-executes", "leader-leaves-then-exec"):
            assert tools.subject_run(behaviour, delay, 2, options=options).status == 0


def test_parsers_under_the_sanitizers() -> None:
    fuzz = native.find("okosu-measure").parent / "measure-fuzz"
    if not fuzz.exists():
        pytest.skip("built without sanitizers, or installed")
    for seed in (1, 2):
        done = subprocess.run([fuzz, "20000", str(seed)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(r"measure-fuzz: 20000 inputs\n", done.stdout)
