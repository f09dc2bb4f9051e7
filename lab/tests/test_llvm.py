# SPDX-License-Identifier: Apache-2.0
"""Which of the LLVMs on a machine a kernel's make is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.kernel import llvm


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder on the PATH but the shell's, which is empty."""
    found = tmp_path / "bin"
    found.mkdir()
    monkeypatch.setenv("PATH", f"{found}:/nowhere")
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a kernel's source that wants LLVM 17.0.1."""
    script = tmp_path / "tree/scripts/min-tool-version.sh"
    script.parent.mkdir(parents=True)
    script.write_text('#!/bin/sh\n[ "$1" = llvm ] && echo 17.0.1\n')
    script.chmod(0o755)
    return tmp_path / "tree"


def install(folder: Path, version: str, suffix: str = "", without: str = "") -> None:
    """Put a family of tools into the folder, all but one."""
    for tool in llvm.TOOLS:
        if tool != without:
            made = folder / f"{tool}{suffix}"
            made.write_text(f"#!/bin/sh\necho 'Debian clang version {version}'\n")
            made.chmod(0o755)


def test_none_is_found_where_none_is(tools: Path, tree: Path) -> None:
    assert llvm.families() == {}
    assert llvm.new_enough(tree) is None


def test_the_one_without_a_number_comes_first_and_then_the_newest(tools: Path, tree: Path) -> None:
    install(tools, "18.1.0")
    install(tools, "9.0.1", "-9")
    install(tools, "19.1.7", "-19")
    assert list(llvm.families().items()) == [("LLVM=1", "18.1.0"), ("LLVM=-19", "19.1.7"), ("LLVM=-9", "9.0.1")]
    assert llvm.new_enough(tree) == "LLVM=1"


@pytest.mark.parametrize(("version", "taken"), [("17.0.0", None), ("17.0.1", "LLVM=-17"), ("17.1", "LLVM=-17")])
def test_an_older_one_is_passed_over(tools: Path, tree: Path, version: str, taken: str | None) -> None:
    install(tools, "14.0.6")
    install(tools, version, "-17")
    assert llvm.least(tree) == "17.0.1"
    assert llvm.new_enough(tree) == taken


@pytest.mark.parametrize("without", llvm.TOOLS)
def test_a_family_without_one_of_its_tools_is_none(tools: Path, tree: Path, without: str) -> None:
    install(tools, "19.1.7", "-19", without)
    assert llvm.families() == {}


def test_what_is_no_clang_is_none(tools: Path) -> None:
    install(tools, "19.1.7", "-19")
    (tools / "clang-format-19").write_text("")
    (tools / "clang-19").write_text("#!/bin/sh\necho something else\n")
    assert llvm.families() == {}


def test_the_version_of_a_word_for_make_is_its_clang_s(tools: Path) -> None:
    install(tools, "14.0.6")
    install(tools, "19.1.7", "-19")
    assert "14.0.6" in llvm.version("LLVM=1")
    assert "19.1.7" in llvm.version("LLVM=-19")
