# SPDX-License-Identifier: Apache-2.0
"""One commit of a repository is fetched; what cannot be had is said; what two benchmarks print is judged."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import arch_suite, benchmarks, foreign, riscv_suite, suite
from papers.scheduling_hardware.benchmarks import Told, differences
from papers.scheduling_hardware.foreign import Package, Repository, Wheel

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
COREMARK = "seedcrc          : 0xe9f5\nCorrect operation validated. See README.md for run and reporting rules.\n"
DHRYSTONE = """\
Int_Glob:            5
        should be:   5
Arr_2_Glob[8][7]:    510
        should be:   Number_Of_Runs + 10
Ptr_Glob->
  Ptr_Comp:          -1878949880
        should be:   (implementation-dependent)
  Str_Comp:          DHRYSTONE PROGRAM, SOME STRING
        should be:   DHRYSTONE PROGRAM, SOME STRING
""" + "".join(f"Int_{n}_Loc:           {n}\n        should be:   {n}\n" for n in range(18))


def commit(folder: Path, text: str) -> str:
    folder.joinpath("wanted").mkdir(exist_ok=True)
    folder.joinpath("wanted/a.c").write_text(text)
    folder.joinpath("other.c").write_text(text)
    subprocess.run([*GIT, "add", "."], cwd=folder, check=True)
    subprocess.run([*GIT, "commit", "-q", "-m", text], cwd=folder, check=True)
    done = subprocess.run([*GIT, "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_commit_is_fetched_though_there_are_later_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    origin = tmp_path / "origin"
    origin.mkdir()
    subprocess.run([*GIT, "init", "-q"], cwd=origin, check=True)
    # As servers do it: any commit can be asked for, and files be left out.
    for name in ("allowAnySHA1InWant", "allowFilter"):
        subprocess.run([*GIT, "config", f"uploadpack.{name}", "true"], cwd=origin, check=True)
    first = commit(origin, "first")
    commit(origin, "second")
    monkeypatch.setitem(foreign.SOURCES, "here", Repository(origin.as_uri(), first, ("wanted",)))
    folder = foreign.fetched("here")
    assert folder.joinpath("wanted/a.c").read_text() == "first"
    assert not folder.joinpath("other.c").exists()
    # It is kept: the second time nothing is asked of where it came from.
    origin.rename(tmp_path / "gone")
    assert foreign.fetched("here") == folder
    monkeypatch.setitem(foreign.SOURCES, "here", Repository(origin.as_uri(), "0" * 40, ("wanted",)))
    with pytest.raises(OkosuError, match="at 0000000000 cannot be had"):
        foreign.fetched("here")
    assert not [one for one in folder.parent.iterdir() if one != folder and not one.name.endswith(".partial")]


def test_a_package_that_there_is_not_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(foreign.SOURCES, "here", Package("no-such-package-of-okosu", "1", "*.tar.xz", "folder"))
    with pytest.raises(OkosuError, match=r"no-such-package-of-okosu 1 cannot be had|apt-get not found"):
        foreign.fetched("here")


def test_of_a_wheel_only_the_folder_is_taken_and_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def download(words: Sequence[str], of: foreign.Source, at: Path | None = None) -> None:
        assert words[-1] == "a-core==1.2"
        with zipfile.ZipFile(Path(words[words.index("--dest") + 1]) / "a_core-1.2-py3-none-any.whl", "w") as archive:
            for name in ("a_core/__init__.py", "a_core/verilog/core.v", "a_core/verilog_of_others/core.v"):
                archive.writestr(name, name)

    monkeypatch.setattr(foreign, "_done", download)
    monkeypatch.setitem(foreign.SOURCES, "here", Wheel("a-core", "1.2", "a_core/verilog"))
    folder = foreign.fetched("here")
    files = {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}
    assert {name for name in files if not name.startswith(".")} == {"a_core/verilog/core.v"}


def test_a_source_that_is_given_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    gone = Repository((tmp_path / "gone").as_uri(), "0" * 40)
    for name in ("posix", "torture"):
        monkeypatch.setitem(foreign.SOURCES, name, gone)
    monkeypatch.setenv("OKOSU_FOREIGN", str(tmp_path))
    with pytest.raises(OkosuError, match="cannot be had") as error:
        foreign.fetched("posix")
    assert "FOLDER/posix and OKOSU_FOREIGN=FOLDER" in error.value.fix
    for group in ("rv32ui", "rv32um", "rv32ua", "rv32mi"):
        tmp_path.joinpath(f"riscv/isa/{group}").mkdir(parents=True)
    for one in ("posix/testcases/open_posix_testsuite/lib/common.c", "torture/gcc/testsuite/gcc.c-torture/execute/1.c"):
        tmp_path.joinpath(one).parent.mkdir(parents=True)
        tmp_path.joinpath(one).write_text("")
    asked: list[list[str]] = []

    def differs(words: list[str]) -> int:
        asked.append(words)
        return 3

    monkeypatch.setattr(suite, "main", differs)
    monkeypatch.setattr(riscv_suite, "main", differs)
    monkeypatch.setattr(arch_suite, "main", differs)
    for version in foreign.ARCH:
        tmp_path.joinpath(version).mkdir()
    assert foreign.main(["torture", "posix", "riscv", "riscv-arch", "--jobs", "2"]) == 3
    assert asked[0][0] == str(tmp_path / "torture/gcc/testsuite/gcc.c-torture/execute")
    assert str(tmp_path / "posix/testcases/open_posix_testsuite/lib/common.c") in asked[1]
    assert asked[2][0] == str(tmp_path / "riscv/isa")
    # Each version is compared with its own table.
    assert [(words[0], Path(words[-1]).stem) for words in asked[3:]] == [
        (str(tmp_path / version), version) for version in foreign.ARCH
    ]
    # What is no such suite is named, and not compared as one that has lost its programs.
    tmp_path.joinpath("posix/testcases").rename(tmp_path / "elsewhere")
    with pytest.raises(OkosuError, match="posix is not the suite"):
        foreign.compare("posix")
    with pytest.raises(OkosuError, match=r"no rv32ui/\*.S is in it"):
        riscv_suite.programs(tmp_path / "riscv/isa")


def test_a_suite_that_cannot_be_had_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(name: str, jobs: int, say: object) -> int:
        raise OkosuError(f"{name} cannot be had", "no connection")

    monkeypatch.setattr(foreign, "compare", lacking)
    assert foreign.main(["torture"]) == 1


def test_what_the_benchmarks_find_wrong_is_no_result() -> None:
    assert benchmarks.wrong("CoreMark", COREMARK, 0) == ""
    assert benchmarks.wrong("CoreMark", "[0]ERROR! list crc 0x1 - should be 0x2\n", 0).startswith("[0]ERROR! list crc")
    assert benchmarks.wrong("CoreMark", "", 0) == "not validated"
    assert benchmarks.wrong("Dhrystone", DHRYSTONE, 500) == ""
    assert benchmarks.wrong("Dhrystone", DHRYSTONE, 501) == "Arr_2_Glob[8][7] is 510 and should be 511"
    assert "is 5 and should be 6" in benchmarks.wrong("Dhrystone", DHRYSTONE.replace("be:   5", "be:   6", 1), 500)
    assert benchmarks.wrong("Dhrystone", DHRYSTONE[:200], 500).startswith("it told")


def test_scores_are_of_each_mhz_and_a_changed_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "compiler_version", lambda _: "a compiler")
    told = [Told("CoreMark", "rv32", "a", 800_000.0, 400_000.0), Told("Dhrystone", "rv32", "a", 1138.3, 569.15)]
    table = benchmarks.section(told)
    assert table.body[0][3:] == ["800,000.0", "400,000.0", "2.000", "1.250 CoreMark/MHz"]
    assert table.body[1][5:] == ["2.000", "0.500 DMIPS/MHz"]
    assert differences(benchmarks.section(told), table) == []
    (line,) = differences(benchmarks.section([told[0], Told("Dhrystone", "rv32", "a", 1139.3, 569.15)]), table)
    assert differences(benchmarks.section(told[:1]), table) == ["Dhrystone, rv32, a: not there"]
    assert line.startswith("Dhrystone, rv32, a: 1,139.3")
    monkeypatch.setattr(benchmarks, "compiler_version", lambda _: "another compiler")
    assert differences(benchmarks.section(told), table)[0].startswith("not comparable")
