# SPDX-License-Identifier: Apache-2.0
"""The series um-rep-movs: its patch, its objects, and which of them a kernel runs on which host: make test-lab."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.run import guest, uml
from lab.tests.long.base import BASE
from lab.tests.long.kernel_commits import Workbench, code
from papers.simd_kernel import plan
from papers.simd_kernel.run import gprof, profiling, symbols
from papers.simd_kernel.tests.long import rep_movs_tool
from papers.simd_kernel.tests.long.rep_movs_tool import OBJECT, ORIGINAL, SERIES

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

# Callers of memcpy() and memset(), and what the new constant is generated beside.
OTHERS = ("mm/memory.o", "arch/um/kernel/um_arch.o", "arch/um/kernel/skas/uaccess.o", "arch/x86/lib/memmove_64.o")
NO_ERMS = Path(__file__).with_name("no_erms.c")
CPUINFO = Path("/proc/cpuinfo")
WITH, WITHOUT = "with ERMS", "without ERMS"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("um"), SERIES, "um")


def test_the_kernel_s_own_rules_are_kept(bench: Workbench) -> None:
    # checkpatch asks for an entry in MAINTAINERS for new files; arch/x86/um/ is there already.
    words = ["perl", "scripts/checkpatch.pl", "--strict", "--no-signoff", "--ignore", "FILE_PATH_CHANGES", "-q"]
    patches = map(str, bench.series.patches)
    done = subprocess.run([*words, *patches], cwd=bench.patched, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


def test_gcc_and_sparse_have_nothing_to_say_that_they_did_not_say_before(bench: Workbench) -> None:
    asked = bench.config("um")
    bench.checkout(bench.commits[0])
    before = bench.complaints(asked, *OTHERS, *ORIGINAL)
    bench.checkout(bench.commits[-1])
    assert bench.complaints(asked, *OTHERS, *ORIGINAL, OBJECT) <= before


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


Host = Callable[[Built, str], Built]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    """Return a function that gives a kernel as it is on a host with or without ERMS.

    Its kernel is a script that starts the real one with another /proc/cpuinfo, which is what it knows its host by.
    """
    folder = tmp_path_factory.mktemp("host")
    library = folder / "no_erms.so"
    flags = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, NO_ERMS, "-ldl"], check=True)

    def on(built: Built, kind: str) -> Built:
        own = folder / f"{built.key} {kind}"
        own.mkdir(exist_ok=True)
        cpuinfo = re.sub(r"(?m)^flags\s*:.*$", lambda line: flags_line(line[0], kind == WITH), CPUINFO.read_text())
        (own / "cpuinfo").write_text(cpuinfo)
        set_ = [f"LD_PRELOAD={library}", f"OKOSU_CPUINFO={own / 'cpuinfo'}"]
        start = shlex.join(["exec", "env", *set_, str(built.path / "linux")])
        (own / "linux").write_text(f'#!/bin/sh\n{start} "$@"\n')
        (own / "linux").chmod(0o755)
        return replace(built, path=own)

    return on


def flags_line(line: str, erms: bool) -> str:
    """Return a line of flags with "erms", or without it and with all else as it was."""
    words = [word for word in line.split(" ") if word != "erms"]
    return " ".join([*words, "erms"] if erms else words)


@pytest.fixture(scope="module")
def built() -> Built:
    return uml.build(series=(SERIES,), fragments=plan.GPROF, base=BASE)


@pytest.mark.parametrize("kind", [WITH, WITHOUT])
def test_a_kernel_copies_and_sets_pages_by_what_its_host_is_fast_at(built: Built, host: Host, kind: str) -> None:
    program = str(guest.program("work_pageread"))
    zero = "dd if=/dev/zero of=/dev/null bs=1M count=60000 2>/dev/null"
    script = f"{shlex.join([program, '262144', '1', '200000'])}; {zero}"
    outcome = uml.run(host(built, kind), ["sh", "-c", script], kernel_args=profiling.KERNEL_ARGS)
    assert outcome.status == 0, outcome.console
    table = gprof.table(profiling.counted(outcome).bins, symbols.of_image(built.path / "linux"))
    for name in ("memcpy", "memset"):
        string, loop = table.row(name).samples, table.row(f"{name}_orig").samples
        used, unused = (string, loop) if kind == WITH else (loop, string)
        # The loop has the short blocks of either host.
        assert used >= 8
        assert used > 4 * unused, (name, string, loop)


@pytest.mark.parametrize("kind", [WITH, WITHOUT])
def test_a_kernel_passes_its_memcpy_and_memset_tests(built: Built, host: Host, kind: str) -> None:
    arguments = (*profiling.KERNEL_ARGS, "kunit.enable=1", "kunit.filter_glob=memcpy.mem[cs]*")
    log = uml.run(host(built, kind), ["true"], kernel_args=arguments).log
    assert re.findall(r"# Totals: pass:(\d+) fail:(\d+) skip:(\d+)", log)[-1] == ("3", "0", "0"), log[-2000:]
