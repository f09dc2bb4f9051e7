# SPDX-License-Identifier: Apache-2.0
"""Whether the loader would take the preload files of an arm, asked without running the program."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from okosu.machine.loader import PRELOAD, interpreter, objection
from okosu.machine.program import Program, inspect

pytestmark = pytest.mark.preloads


def objected(program: Program, named: object, **env: str) -> str:
    return objection(program, {PRELOAD: str(named), **env})


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library, one that needs another which is gone, a text, and the library for another processor."""
    folder = tmp_path_factory.mktemp("libraries")
    source = folder / "empty.c"
    source.write_text("int okosu_test_empty;\n")
    for name, more in (("gone", []), ("good", []), ("needs", ["-Wl,--no-as-needed", folder / "libgone.so"])):
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / f"lib{name}.so", source, *more], check=True)
    (folder / "libgone.so").unlink()
    (folder / "text.so").write_text("not a library\n" * 20)
    other = bytearray((folder / "libgood.so").read_bytes())
    other[18:20] = struct.pack("<H", 0xF7 if other[18] == 0xB7 else 0xB7)
    (folder / "other.so").write_bytes(other)
    return folder


def test_a_library_that_loads_is_not_objected_to(libraries: Path) -> None:
    program = inspect("sort")
    assert objection(program, {"OTHER": "x"}) == ""
    assert objected(program, libraries / "libgood.so") == ""
    assert objected(program, "libgood.so", LD_LIBRARY_PATH=str(libraries)) == ""
    assert objected(program, "") == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none.so", "no such file"),
        ("text.so", "text.so: "),
        ("libneeds.so", "libgone.so: cannot open shared object file"),
        ("other.so", "it is for another kind of processor than"),
    ],
)
def test_a_file_that_does_not_load_is_named_with_the_reason(libraries: Path, name: str, why: str) -> None:
    assert why in objected(inspect("sort"), libraries / name)
    assert why in objected(inspect("sort"), f"{libraries}/libgood.so:{libraries}/{name}")


def test_a_name_that_the_loader_does_not_find() -> None:
    assert "libokosu-none.so: cannot open" in objected(inspect("sort"), "libokosu-none.so")


def test_programs_in_which_nothing_is_preloaded(tmp_path: Path, libraries: Path) -> None:
    good = libraries / "libgood.so"
    assert "linked statically" in objected(Program("app", "static-glibc"), good)
    assert "set-user-ID" in objected(Program("app", "glibc", setuid=True), good)
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert objected(inspect(str(script)), good) == ""
    assert "text.so" in objected(inspect(str(script)), libraries / "text.so")


def test_musl_passes_over_what_it_cannot_load_without_a_word(tmp_path: Path, libraries: Path) -> None:
    if not shutil.which("musl-gcc"):
        pytest.skip("musl-gcc is not installed")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["musl-gcc", "-o", tmp_path / "main", tmp_path / "main.c"], check=True)
    program = inspect(str(tmp_path / "main"))
    assert objected(program, libraries / "libgood.so") == ""
    assert "does not load it" in objected(program, libraries / "text.so")


def test_what_is_no_program_names_no_loader(tmp_path: Path) -> None:
    for data in (b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF\2\1" + b"\xff" * 58):
        (tmp_path / "file").write_bytes(data)
        assert interpreter(tmp_path / "file") == ""
    assert interpreter(tmp_path / "none") == ""
