# SPDX-License-Identifier: Apache-2.0
"""The reader of ELF files: what a program needs, by way of which folders, and that damage is no error."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.machine import elf

Compile = Callable[..., Path]
LIBRARY = "int okosu_{0}(void) {{ return 1; }}"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that needs libouter.so in the folder lib beside it, which needs libinner.so in its folder deep."""
    folder = tmp_path_factory.mktemp("elf")
    (folder / "lib/deep").mkdir(parents=True)

    def build(out: str, text: str, *flags: str) -> None:
        words = ["cc", "-x", "c", "-", "-o", str(folder / out), *flags]
        subprocess.run(words, input=text, text=True, check=True, cwd=folder)

    shared = ("-shared", "-fPIC", "-Wl,--enable-new-dtags")
    build("lib/deep/libinner.so", LIBRARY.format("inner"), *shared)
    outer = "int okosu_inner(void); int okosu_outer(void) { return okosu_inner(); }"
    build("lib/libouter.so", outer, *shared, "-Llib/deep", "-linner", "-Wl,-rpath,$ORIGIN/deep")
    main = "int okosu_outer(void); int caml_startup_it(void) { return 2; } int main(void) { return okosu_outer(); }"
    found = ("-Llib", "-louter", "-Wl,-rpath-link,lib/deep", "-Wl,--enable-new-dtags", "-Wl,-rpath,${ORIGIN}/lib")
    build("app", main, *found)
    return folder / "app"


def test_libraries_are_found_by_the_folders_of_each_file(program: Path) -> None:
    assert {"libouter.so", "libinner.so"} <= elf.libraries(program).keys()
    assert elf.libraries(program)["libinner.so"] == program.parent / "lib/deep/libinner.so"
    (program.parent / "lib/deep/libinner.so").rename(program.parent / "lib/libinner.so")
    try:
        # It is asked for all the same, and what it needs is not known.
        assert elf.libraries(program)["libinner.so"] is None
    finally:
        (program.parent / "lib/libinner.so").rename(program.parent / "lib/deep/libinner.so")


def test_a_library_behind_another_is_followed_only_where_it_is_found(program: Path, tmp_path: Path) -> None:
    away = program.parent / "lib/libouter.so"
    hidden = away.rename(tmp_path / "libouter.so")
    try:
        assert "libinner.so" not in elf.libraries(program)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LD_LIBRARY_PATH", str(tmp_path))
            assert "libinner.so" in elf.libraries(program)
    finally:
        hidden.rename(away)


def test_sections_symbols_and_the_loader(program: Path) -> None:
    found = elf.read(program)
    assert found is not None
    assert ".text" in found.sections
    assert found.interpreter.startswith("/lib")
    assert elf.has_symbol(program, "caml_startup*")
    assert elf.has_symbol(program, "*_startup_it")
    assert not elf.has_symbol(program, "caml_startup")
    assert not elf.has_symbol(program, "startup*")


def test_what_is_no_elf_file_says_nothing(tmp_path: Path) -> None:
    for content in (b"", b"\x7fELF", b"#!/bin/sh\n"):
        (tmp_path / "file").write_bytes(content)
        assert elf.read(tmp_path / "file") is None
        assert elf.libraries(tmp_path / "file") == {}
        assert not elf.has_symbol(tmp_path / "file", "main")
    assert elf.read(tmp_path / "none") is None


@given(st.integers(0, 4000), st.binary(min_size=1, max_size=64), st.booleans())
def test_damage_gives_less_and_no_error(program: Path, at: int, put: bytes, end: bool) -> None:
    data = bytearray(program.read_bytes())
    at = len(data) - 1 - at if end else at
    data[at : at + len(put)] = put
    damaged = program.parent / f"damaged-{os.getpid()}"
    damaged.write_bytes(data)
    elf.libraries(damaged)
    elf.has_symbol(damaged, "main*")
