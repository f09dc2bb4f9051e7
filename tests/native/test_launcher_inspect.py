# SPDX-License-Identifier: Apache-2.0
"""The output of okosu-run --inspect for programs of every kind, for scripts, and for files made to mislead it."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EMPTY = "int main(void) { return 0; }"
BARE = "void _start(void) { for (;;) ; }"
GO_SECTION = '__attribute__((section(".go.buildinfo"), used)) static const char info[16] = "x";' + BARE
GO_NOTE = (
    '__asm__(".section .note.go.buildid,\\"a\\",@note\\n.long 4,4,4\\n"'
    ' ".asciz \\"Go\\\\0\\"\\n.asciz \\"abc\\"\\n.text");' + BARE
)
NO_LIBC = ("-nostdlib", "-static", "-fno-stack-protector")


def inspect(launcher: Path, program: Path | str, **env: str) -> dict[str, Any]:
    done = subprocess.run([launcher, "--inspect", "--", program], capture_output=True, text=True, env=os.environ | env)
    assert (done.returncode, done.stderr) == (0, "")
    loaded: dict[str, Any] = json.loads(done.stdout)
    assert set(loaded) == {"path", "kind", "setuid", "script", "preloadable", "why"}
    assert loaded["preloadable"] == (loaded["why"] == "")
    return loaded


def test_glibc(launcher: Path) -> None:
    assert inspect(launcher, "ls") == {
        "path": shutil.which("ls"),
        "kind": "glibc",
        "setuid": False,
        "script": None,
        "preloadable": True,
        "why": "",
    }


@pytest.mark.parametrize("flags", [(), ("-no-pie",), ("-s",), ("-Wl,-z,noseparate-code",)])
def test_compiled_here(launcher: Path, compiled: Callable[..., Path], flags: tuple[str, ...]) -> None:
    assert inspect(launcher, compiled(EMPTY, *flags))["kind"] == "glibc"


@pytest.mark.parametrize("flags", [("-static",), ("-static-pie",), ("-static", "-s")])
def test_static_glibc(launcher: Path, compiled: Callable[..., Path], flags: tuple[str, ...]) -> None:
    found = inspect(launcher, compiled(EMPTY, *flags))
    assert (found["kind"], found["preloadable"]) == ("static-glibc", False)
    assert "linked statically" in found["why"]


def test_static_without_a_c_library(launcher: Path, compiled: Callable[..., Path]) -> None:
    assert inspect(launcher, compiled(BARE, *NO_LIBC))["kind"] == "static"


@pytest.mark.parametrize(
    ("compiler", "flag", "name"),
    [
        ("gcc", "address", "AddressSanitizer"),
        ("gcc", "thread", "ThreadSanitizer"),
        ("clang", "address", "AddressSanitizer"),
        ("clang", "thread", "ThreadSanitizer"),
        ("clang", "memory", "MemorySanitizer"),
    ],
)
def test_sanitizers(launcher: Path, tmp_path: Path, compiler: str, flag: str, name: str) -> None:
    """A library that is loaded before the runtime of a sanitizer keeps the program from starting, or the runtime
    blind.
    """
    (tmp_path / "source.c").write_text('#include <stdio.h>\nint main(void) { puts("ran"); return 0; }\n')
    program = tmp_path / "program"
    command = [compiler, f"-fsanitize={flag}", tmp_path / "source.c", "-o", program]
    if not shutil.which(compiler) or subprocess.run(command, capture_output=True).returncode:
        pytest.skip(f"{compiler} does not build with -fsanitize={flag} here")
    found = inspect(launcher, program)
    assert (found["kind"], found["preloadable"]) == ("glibc", False)
    assert name in found["why"]
    if flag == "address":
        # The search for leaks attaches to the program as a debugger does, which may be refused here.
        env = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
        done = subprocess.run([launcher, "--superpage=thp", "--", program], capture_output=True, text=True, env=env)
        assert (done.returncode, done.stdout) == (0, "ran\n")
        assert f"the preload library cannot be loaded into {program}: it is built with {name}" in done.stderr
        # The launcher does not know what a program will execute.
        words = [launcher, "--superpage=thp", "--children=0", "--", "sh", "-c", '"$0"; exit $?', program]
        child = subprocess.run(words, capture_output=True, text=True, env=env)
        assert (child.returncode, child.stdout) == (0, "ran\n")


def test_a_string_of_a_sanitizer_is_no_sanitizer(launcher: Path, compiled: Callable[..., Path]) -> None:
    """As in a compiler, which writes such names."""
    program = compiled('#include <stdio.h>\nint main(void) { puts("__asan_init"); return 0; }')
    assert b"__asan_init" in program.read_bytes()
    assert inspect(launcher, program)["preloadable"]


@pytest.mark.parametrize(
    ("source", "flags"), [(GO_SECTION, NO_LIBC), (GO_NOTE, (*NO_LIBC, "-s"))], ids=["section", "note"]
)
def test_go(launcher: Path, compiled: Callable[..., Path], source: str, flags: tuple[str, ...]) -> None:
    assert inspect(launcher, compiled(source, *flags))["kind"] == "go"


@pytest.mark.parametrize(
    ("loader", "kind"),
    [
        ("/lib/ld-musl-x86_64.so.1", "musl"),
        ("/system/bin/linker64", "foreign"),
        # A missing glibc has no version, so it is unknown what can be loaded into the program.
        ("/nix/store/x/lib/ld-linux-x86-64.so.2", "glibc"),
    ],
)
def test_other_loaders(launcher: Path, compiled: Callable[..., Path], loader: str, kind: str) -> None:
    found = inspect(launcher, compiled(EMPTY, f"-Wl,--dynamic-linker={loader}"))
    assert (found["kind"], found["preloadable"]) == (kind, False)


@pytest.mark.parametrize(
    ("name", "content", "preloadable"),
    [
        ("ld-2.31.so", b"", False),
        ("ld-2.99.so", b"", True),
        ("ld-linux-x.so.2", b"\0ld.so (X) stable release version 2.31.\0", False),
        ("ld-linux-x.so.2", b"\0ld.so (X) stable release version 2.99.\0", True),
        ("ld-linux-x.so.2", b"\0ld.so without a version\0", False),
    ],
)
def test_an_older_glibc_is_left_alone(
    launcher: Path, compiled: Callable[..., Path], tmp_path: Path, name: str, content: bytes, preloadable: bool
) -> None:
    (tmp_path / name).write_bytes(content)
    found = inspect(launcher, compiled(EMPTY, f"-Wl,--dynamic-linker={tmp_path / name}"))
    assert (found["kind"], found["preloadable"]) == ("glibc", preloadable)


@pytest.mark.parametrize(("offset", "value"), [(18, b"\xf3\x00"), (4, b"\x01"), (5, b"\x02")])
def test_foreign(launcher: Path, tmp_path: Path, offset: int, value: bytes) -> None:
    copy = bytearray(Path("/bin/true").read_bytes())
    copy[offset : offset + len(value)] = value
    program = tmp_path / "foreign"
    program.write_bytes(copy)
    program.chmod(0o755)
    found = inspect(launcher, program)
    assert (found["kind"], found["why"]) == ("foreign", "it is built for another architecture")


@pytest.mark.parametrize(
    ("mode", "setuid"), [(0o755, False), (0o4755, True), (0o2755, True), (0o2745, False), (0o1755, False)]
)
def test_setuid(launcher: Path, compiled: Callable[..., Path], tmp_path: Path, mode: int, setuid: bool) -> None:
    program = tmp_path / "program"
    shutil.copy(compiled(EMPTY), program)
    program.chmod(mode)
    found = inspect(launcher, program)
    assert (found["setuid"], found["preloadable"]) == (setuid, not setuid)
    assert found["kind"] == "glibc"
    for lever in ("--retain", "--superpage=thp", "--superpage=glibc"):
        done = subprocess.run([launcher, "--dry-run", lever, program], capture_output=True, text=True)
        assert ("gains privileges when it starts" in done.stderr) == setuid


@pytest.mark.parametrize("who", ["anyone", pytest.param("root", marks=pytest.mark.privileged)])
def test_file_capabilities(who: str, launcher: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy("/bin/true", program)
    # Version 2, effective, CAP_NET_RAW permitted; only a privileged process may write this attribute.
    capability = struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0)
    try:
        os.setxattr(program, "security.capability", capability)
    except PermissionError:
        assert os.geteuid() != 0
        assert not inspect(launcher, program)["setuid"]
        return
    assert inspect(launcher, program)["setuid"]


@pytest.mark.parametrize("who", ["anyone", pytest.param("root", marks=pytest.mark.privileged)])
def test_not_readable(who: str, launcher: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy("/bin/true", program)
    program.chmod(0o111)
    found = inspect(launcher, program)
    # Root can read the file even without permission.
    assert found["kind"] == ("glibc" if os.geteuid() == 0 else "foreign")
    assert subprocess.run([launcher, "--superpage=thp", program], capture_output=True).returncode == 0


def script(path: Path, first: str) -> Path:
    """Write a script; skip the test where the kernel would cut its first line at a space in the interpreter's path."""
    if " " in str(path.parent) and str(path.parent) in first:
        pytest.skip(f"a #! line cannot name a path with a space: {path.parent}")
    path.write_text(first + "\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("first", "interpreter"),
    [
        ("#!/bin/sh", "/bin/sh"),
        ("#! \t/bin/sh -e", "/bin/sh"),
        ("#!/usr/bin/env sh", "sh"),
        ("#!/usr/bin/env -S A=b sh -e", "sh"),
        ("#!/usr/bin/env -Ssh -e", "sh"),
        ("#!/usr/bin/env no-such-program", "/usr/bin/env"),
        ("#!/usr/bin/env", "/usr/bin/env"),
        ("no first line", "/bin/sh"),
    ],
)
def test_scripts(launcher: Path, tmp_path: Path, first: str, interpreter: str) -> None:
    found = inspect(launcher, script(tmp_path / "script", first))
    assert found["script"] == (interpreter if "/" in interpreter else shutil.which(interpreter))
    assert (found["path"], found["kind"], found["preloadable"]) == (str(tmp_path / "script"), "glibc", True)


def test_a_script_of_a_static_interpreter(launcher: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    program = compiled(EMPTY, "-static")
    inner = script(tmp_path / "inner", f"#!{program}")
    found = inspect(launcher, script(tmp_path / "outer", f"#!{inner}"))
    assert (found["kind"], found["script"]) == ("static-glibc", str(program))


@pytest.mark.parametrize("lever", [[], ["--retain"]])
def test_scripts_that_call_each_other(launcher: Path, tmp_path: Path, lever: list[str]) -> None:
    script(tmp_path / "a", f"#!{tmp_path}/b")
    script(tmp_path / "b", f"#!{tmp_path}/a")
    done = subprocess.run([launcher, *lever, tmp_path / "a"], capture_output=True, text=True)
    assert done.returncode == 126
    assert "Too many levels of symbolic links" in done.stderr


def fields(image: bytes) -> list[tuple[int, int]]:
    """Offset and width of every field of the ELF header and the program headers."""
    header = [(16, 2), (18, 2), (20, 4), (24, 8), (32, 8), (40, 8), (48, 4), *((at, 2) for at in range(52, 64, 2))]
    start, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<2H", image, 54)
    rows = [start + i * size for i in range(count)]
    return header + [(row + at, width) for row in rows for at, width in ((0, 4), (8, 8), (16, 8), (32, 8), (40, 8))]


def test_every_header_field_at_its_extremes(launcher: Path, tmp_path: Path) -> None:
    image = Path("/bin/true").read_bytes()
    program = tmp_path / "program"
    program.touch(mode=0o755)
    kinds = set()
    for at, width in fields(image):
        for value in (0, (1 << 8 * width) - 1, (1 << (8 * width - 1)) - 1):
            changed = bytearray(image)
            changed[at : at + width] = value.to_bytes(width, "little")
            program.write_bytes(changed)
            done = subprocess.run([launcher, "--inspect", program], capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
            kinds.add(json.loads(done.stdout)["kind"])
    assert {"glibc", "static", "foreign"} <= kinds


def test_every_length(launcher: Path, tmp_path: Path) -> None:
    image = Path("/bin/true").read_bytes()
    # The interpreter's name is the last part of the file that must be present.
    end = image.index(b"\0", image.index(b"/lib")) + 1
    program = tmp_path / "program"
    program.touch(mode=0o755)
    for length in [*range(0, 72, 5), 200, 500, end - 1]:
        program.write_bytes(image[:length])
        assert inspect(launcher, program)["kind"] == "foreign"
    program.write_bytes(image[:end])
    assert inspect(launcher, program)["kind"] == "glibc"


@pytest.mark.long
def test_damaged_programs_under_sanitizers(compiled: Callable[..., Path], tmp_path: Path) -> None:
    native = ROOT / "native"
    sources = ["launch/fuzz_inspect.c", "launch/inspect.c", "launch/elffile.c", "levers/plan.c"]
    sources += [f"src/base/{name}.c" for name in ("arena", "env", "file")]
    fuzzer = tmp_path / "fuzz"
    subprocess.run(
        ["cc", "-g", "-O1", "-D_GNU_SOURCE", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        + [f"-I{native / folder}" for folder in ("src", "include", "levers", "launch")]
        + [str(native / source) for source in sources]
        + ["-o", str(fuzzer)],
        check=True,
    )
    for subject in (Path("/bin/true"), compiled(EMPTY, "-static"), compiled(GO_NOTE, *NO_LIBC)):
        done = subprocess.run([fuzzer, subject, "1500", "20261121"], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        counts = {name: int(count) for name, count in (line.split() for line in done.stdout.splitlines())}
        # Both outcomes occurred: files that are still understood, and files that are refused.
        assert sum(counts.values()) == 1500
        assert counts["foreign"] > 50
        assert max(counts["glibc"], counts["static-glibc"], counts["go"]) > 50
