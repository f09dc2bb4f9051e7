# SPDX-License-Identifier: Apache-2.0
"""What okosu learns of a program from the launcher, and the errors where there is none."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from okosu import native
from okosu.errors import OkosuError
from okosu.machine.program import Program, inspect


def launcher(tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the launcher by a shell script."""
    path = tmp_path / "okosu-run"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setattr(native, "find", lambda _: path)


def test_a_dynamic_program_can_be_preloaded() -> None:
    program = inspect("/bin/true")
    assert (program.kind, program.preloadable, program.setuid, program.why) == ("glibc", True, False, "")
    assert program.heeds_tunables


def test_a_name_is_found_by_path() -> None:
    assert Path(inspect("true").path).is_absolute()


def test_a_script_is_what_its_interpreter_is(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    program = inspect(str(script))
    assert (program.kind, program.path) == ("glibc", str(script))
    assert program.script == "/bin/sh"


def test_a_setuid_program_reads_no_tunables(tmp_path: Path) -> None:
    copy = tmp_path / "true"
    copy.write_bytes(Path("/bin/true").read_bytes())
    copy.chmod(0o755 | stat.S_ISUID)
    program = inspect(str(copy))
    assert (program.setuid, program.preloadable, program.heeds_tunables) == (True, False, False)
    assert program.why


@pytest.mark.parametrize(
    ("name", "status"), [("/no/such/program", 127), ("no-such-program", 127), ("/etc/passwd", 126)]
)
def test_no_program_is_an_error_in_three_parts(name: str, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a folder that may not be searched, the program may or may not exist: execvp then says EACCES, and so does
    # okosu.
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(OkosuError) as caught:
        inspect(name)
    assert caught.value.status == status
    assert name in caught.value.what
    assert caught.value.why
    assert caught.value.fix


def test_a_launcher_of_another_version_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher(tmp_path, "echo '{\"shape\": 1}'", monkeypatch)
    with pytest.raises(OkosuError) as caught:
        inspect("/bin/true")
    assert caught.value.status == 125
    assert "another version" in caught.value.why


def test_what_a_broken_launcher_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher(tmp_path, "echo 'error while loading shared libraries' >&2; exit 42", monkeypatch)
    with pytest.raises(OkosuError) as caught:
        inspect("/bin/true")
    assert caught.value.status == 125
    assert "shared libraries" in caught.value.why


@pytest.mark.parametrize(
    ("kind", "heeds"), [("glibc", True), ("static-glibc", True), ("static", False), ("go", False), ("musl", False)]
)
def test_only_glibc_reads_tunables(kind: str, heeds: bool) -> None:
    assert Program("/x", kind).heeds_tunables is heeds
