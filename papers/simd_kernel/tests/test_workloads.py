# SPDX-License-Identifier: Apache-2.0
"""The guest's workloads, compiled and run here with tiny counts: they do what they say, and notice wrong data."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import rooms
from okosu.errors import OkosuError
from papers.simd_kernel.run import workloads

GUEST = Path(__file__).resolve().parents[1] / "guest"
HEADERS = rooms.LAB / "guest"
PROGRAMS = sorted(path.stem for path in GUEST.glob("work_*.c"))
FLAGS = ["-std=c17", "-O2", "-static", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{HEADERS}"]

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    for name in PROGRAMS:
        subprocess.run(["gcc", *FLAGS, "-o", folder / name, GUEST / f"{name}.c"], check=True)
    return folder


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_program_is_a_workload_and_says_what_it_stresses() -> None:
    assert sorted({one.program for one in workloads.TABLE}) == PROGRAMS
    for name in PROGRAMS:
        head = (GUEST / f"{name}.c").read_text().split("*/")[1]
        assert name in head
        assert "stresses" in head


def test_names_are_their_own() -> None:
    names = [one.name for one in workloads.TABLE]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("one", workloads.TABLE, ids=lambda one: one.name)
def test_a_workload_runs_and_reports_its_operations(one: workloads.Workload, programs: Path) -> None:
    done = run(one.command(programs, 1e-9))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    result = workloads.parse(done.stdout)
    blocks = one.sizes[1] if len(one.sizes) == 2 else 1
    assert result.ops == blocks


@pytest.mark.parametrize(
    ("command", "ops", "bytes_"),
    [
        (["work_pipe", "512", "3"], 3, 3 * 2 * 512),
        (["work_pipe", "65536", "2"], 2, 2 * 2 * 65536),
        (["work_filecopy", "1000", "77", "3"], 231, 231 * 2 * 1000),
        (["work_filecopy", "70000", "3", "2"], 6, 6 * 2 * 70000),
        (["work_pageread", "16", "5", "2"], 10, 160),
        (["work_fork", "3", "2"], 2, 2 * 3 * 4096),
        (["work_switch", "4"], 4, 4 * 4 * 8),
        (["work_exec", "3"], 3, 0),
        (["work_spawn", "130"], 130, 0),
        (["work_syscall", "9"], 9, 0),
    ],
)
def test_operations_and_bytes_follow_the_arguments(command: list[str], ops: int, bytes_: int, programs: Path) -> None:
    result = workloads.parse(run([str(programs / command[0]), *command[1:]]).stdout)
    assert (result.ops, result.bytes) == (ops, bytes_)


@pytest.mark.parametrize("arguments", [[], ["x"], ["0"], ["-1"], ["1", "2", "3", "4", "5"], [""], ["1000000001"]])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bad_arguments_are_refused(name: str, arguments: list[str], programs: Path) -> None:
    done = run([str(programs / name), *arguments])
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr


def test_sizes_that_cannot_be_are_refused(programs: Path) -> None:
    assert run([str(programs / "work_pipe"), "65537", "1"]).returncode == 2
    assert run([str(programs / "work_pageread"), "15", "1", "1"]).returncode == 2


BROKEN_READ = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
ssize_t read(int fd, void *to, size_t size)
{
    ssize_t (*real)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    ssize_t got = real(fd, to, size);
    if (got > 0)
        ((char *)to)[got - 1] ^= 1;
    return got;
}
"""


@pytest.mark.preloads
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("work_pipe", ["512", "2"]),
        ("work_filecopy", ["256", "4", "1"]),
        ("work_pageread", ["4096", "4", "1"]),
        ("work_switch", ["3"]),
    ],
)
def test_a_kernel_that_returns_a_wrong_byte_is_noticed(name: str, arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text(BROKEN_READ)
    broken, program = tmp_path / "broken.so", tmp_path / name
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", broken, tmp_path / "broken.c"], check=True)
    subprocess.run(["gcc", "-std=c17", "-O2", f"-I{HEADERS}", "-o", program, GUEST / f"{name}.c"], check=True)
    assert run([str(program), *arguments]).returncode == 0
    done = run(["env", f"LD_PRELOAD={broken}", str(program), *arguments])
    assert done.returncode == 1
    assert re.search("data are wrong|too early", done.stderr)


@pytest.mark.parametrize(
    "line", ["", "{}", "[1]", '{"ops": 0, "seconds": 1, "bytes": 0}', '{"ops": 1, "seconds": 0, "bytes": 0}', "12"]
)
def test_another_line_is_an_error(line: str) -> None:
    with pytest.raises(OkosuError, match="a workload printed"):
        workloads.parse(line)


def test_workloads_are_found_by_name_in_the_tables_order() -> None:
    assert [one.name for one in workloads.find(["syscall", "pipe-512"])] == ["pipe-512", "syscall"]
    assert workloads.find([]) == workloads.TABLE
    with pytest.raises(OkosuError, match="no workload is called 'pipe'") as raised:
        workloads.find(["pipe"])
    assert raised.value.status == 2


def test_scale_multiplies_repetitions_and_keeps_sizes() -> None:
    one = workloads.Workload("x", "work_x", (512,), 100)
    assert one.command(Path("/g"), 0.5) == ["/g/work_x", "512", "50"]
    assert one.command(Path("/g"), 0.0001) == ["/g/work_x", "512", "1"]
