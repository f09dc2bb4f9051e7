# SPDX-License-Identifier: Apache-2.0
"""The series um-rep-movs: its patch, its objects, and which of them a kernel runs on which host: make test-lab."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.run import guest, uml
from lab.tests.long.base import BASE
from lab.tests.long.kernel_commits import NEEDS_SMATCH, Workbench, code
from papers.simd_kernel.tests.long import rep_movs_tool
from papers.simd_kernel.tests.long.rep_movs_tool import OBJECT, ORIGINAL, SERIES

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

# Callers of memcpy() and memset(), and what the new constant is generated beside.
OTHERS = ("mm/memory.o", "arch/um/kernel/um_arch.o", "arch/um/kernel/skas/uaccess.o", "arch/x86/lib/memmove_64.o")
NO_ERMS = Path(__file__).with_name("no_erms.c")
LONG_CALLS = Path(__file__).with_name("long_calls.c")
CPUINFO = Path("/proc/cpuinfo")
WITH, WITHOUT = "with ERMS", "without ERMS"
PAGE = 4096
# Pages of the file that is read, and pages that are set.
READ, SET = 64, 512


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("um"), SERIES, "um")


@pytest.mark.parametrize("checker", ["complaints", pytest.param("smatch", marks=NEEDS_SMATCH)])
def test_gcc_sparse_and_smatch_have_nothing_new_to_say(bench: Workbench, checker: str) -> None:
    asked, check = bench.config("um"), getattr(bench, checker)
    bench.checkout(bench.commits[0])
    before = check(asked, *OTHERS, *ORIGINAL)
    bench.checkout(bench.commits[-1])
    assert check(asked, *OTHERS, *ORIGINAL, OBJECT) <= before


def test_nothing_but_the_two_functions_is_new(bench: Workbench) -> None:
    asked = bench.config("um")
    found = []
    for commit in (bench.commits[0], bench.commits[-1]):
        bench.checkout(commit)
        made = bench.make(asked, *OTHERS, *ORIGINAL)
        found.append({path: code(made / path) for path in (*OTHERS, *ORIGINAL)})
    assert found[0] == found[1]
    assert len(found[0]["mm/memory.o"]) > 100_000


def test_with_kasan_the_functions_are_kasan_s_own(bench: Workbench) -> None:
    bench.checkout(bench.commits[-1])
    asked = bench.config("um")
    names = []
    for kasan in ("n", "y"):
        made = bench.make({**asked, "KASAN": kasan}, "arch/x86/um/")
        names.append({path.name for path in (made / "arch/x86/um").glob("*.o")})
    assert names[0] - names[1] == {Path(OBJECT).name}


def test_the_objects_copy_and_set_what_they_should_by_what_they_should(bench: Workbench, tmp_path: Path) -> None:
    program = rep_movs_tool.program(bench, tmp_path)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (
        0,
        [
            "a host without features: copy never, set never",
            "a host with every feature: copy from 2048, set from 2048",
        ],
    ), done.stdout


@pytest.fixture(scope="module")
def no_erms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("library") / "no_erms.so"
    flags = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, NO_ERMS, "-ldl"], check=True)
    return library


@pytest.fixture(scope="module")
def long_calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("program") / "long_calls"
    flags = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *flags, "-o", program, LONG_CALLS], check=True)
    return program


@pytest.fixture(scope="module")
def built() -> Built:
    return rep_movs_tool.kernel(BASE, SERIES)


@dataclass(frozen=True)
class Host:
    """A host with or without ERMS (`kind`), in a folder of its own."""

    folder: Path
    no_erms: Path
    kind: str

    def kernel(self, built: Built, *before: str | Path, image: Path | None = None) -> Built:
        """Return a kernel as it is on this host, started by the words `before`; `image` in place of its own.

        It is a script that starts the image with another /proc/cpuinfo, which is what the kernel knows its host by.
        """
        cpuinfo = self.folder / "cpuinfo"
        cpuinfo.write_text(
            re.sub(r"(?m)^flags\s*:.*$", lambda line: flags_line(line[0], self.kind == WITH), CPUINFO.read_text())
        )
        set_ = [f"LD_PRELOAD={self.no_erms}", f"OKOSU_CPUINFO={cpuinfo}"]
        start = shlex.join(["exec", "env", *set_, *map(str, before), str(image or built.path / "linux")])
        script = self.folder / "linux"
        script.write_text(f'#!/bin/sh\n{start} "$@"\n')
        script.chmod(0o755)
        return replace(built, path=self.folder)


def flags_line(line: str, erms: bool) -> str:
    """Return a line of flags with "erms", or without it and with all else as it was."""
    words = [word for word in line.split(" ") if word != "erms"]
    return " ".join([*words, "erms"] if erms else words)


@pytest.fixture(params=[WITH, WITHOUT])
def host(request: pytest.FixtureRequest, no_erms: Path, tmp_path: Path) -> Host:
    return Host(tmp_path, no_erms, request.param)


@dataclass(frozen=True)
class Ways:
    """Calls of a routine for whole pages: those that a string instruction did, and those that a loop did."""

    string: int
    loop: int


def ways(built: Built, host: Host, long_calls: Path, image: Path) -> dict[str, Ways]:
    """Boot, copy and set pages, and return the calls of memcpy() and memset(), those of the whole boot included."""
    places = {name: rep_movs_tool.places(image, name) for name in ("memcpy", "memset")}
    counts = host.folder / "counts"
    addresses = [f"{at:x}" for by_string, by_loop in places.values() for at in (*by_string, by_loop)]
    kernel = host.kernel(built, long_calls, counts, str(PAGE), *addresses, "--", image=image)
    read = shlex.join([str(guest.program("work_pageread")), str(READ * PAGE), "1", "10"])
    outcome = uml.run(kernel, ["sh", "-c", f"{read} && dd if=/dev/zero of=/dev/null bs={PAGE} count={SET}"])
    assert outcome.status == 0, outcome.console
    found = {int(at, 16): int(calls) for at, calls in map(str.split, counts.read_text().splitlines())}
    return {
        name: Ways(sum(found[at] for at in by_string), found[by_loop]) for name, (by_string, by_loop) in places.items()
    }


def test_a_kernel_copies_and_sets_pages_by_what_its_host_is_fast_at(built: Built, host: Host, long_calls: Path) -> None:
    found = ways(built, host, long_calls, built.path / "linux")
    for name, least in (("memcpy", 10 * READ), ("memset", SET)):
        calls = found[name]
        used, unused = (calls.string, calls.loop) if host.kind == WITH else (calls.loop, calls.string)
        assert used >= least, (name, calls)
        assert unused == 0, (name, calls)


@pytest.mark.parametrize("name", ["memcpy", "memset"])
@pytest.mark.parametrize("branch", ["jb", "je"])
def test_a_kernel_with_a_branch_the_wrong_way_is_found_out(
    built: Built, host: Host, long_calls: Path, name: str, branch: str
) -> None:
    image = host.folder / "planted"
    rep_movs_tool.plant(built.path / "linux", image, name, branch)
    found = ways(built, host, long_calls, image)
    for one, calls in found.items():
        used, unused = (calls.string, calls.loop) if host.kind == WITH else (calls.loop, calls.string)
        if one != name or (branch == "jb" and host.kind == WITHOUT):
            # The length is of no account where no block is to be long enough.
            assert (used > 0, unused) == (True, 0), (one, calls)
        else:
            assert (used, unused > 0) == (0, True), (one, calls)


def test_a_kernel_passes_its_memcpy_and_memset_tests(built: Built, host: Host) -> None:
    arguments = ("kunit.enable=1", "kunit.filter_glob=memcpy.mem[cs]*")
    log = uml.run(host.kernel(built), ["true"], kernel_args=arguments).log
    assert re.findall(r"# Totals: pass:(\d+) fail:(\d+) skip:(\d+)", log)[-1] == ("3", "0", "0"), log[-2000:]
