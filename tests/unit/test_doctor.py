# SPDX-License-Identifier: Apache-2.0
"""okosu doctor as a command: output, JSON, capture and replay, and every kind of bad input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_recipes import TEXT

from okosu import levers
from okosu.cli.main import dispatch
from okosu.machine import Machine


def doctor(*argv: str) -> int:
    return dispatch(["doctor", *argv])


def test_this_machine_fits_80_columns_without_colour(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert doctor() == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert not [line for line in text.splitlines() if line.endswith(" ")]
    for word in ("CPU", "Caches", "NUMA", "Huge pages", "Rights", "Limits", "Virtual", "GPU", "pin", "superpage"):
        assert word in text


def test_json_on_stdout_replaces_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor("--json", "-", "--", "/bin/true") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["schema"] == "okosu.doctor/1"
    assert set(said["levers"]) == set(levers.load())
    assert said["program"]["kind"] == "glibc"
    import msgspec

    assert msgspec.convert(said["machine"], Machine).id == said["machine"]["id"]


def test_json_in_a_file_stands_beside_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.json"
    assert doctor("--json", str(path)) == 0
    assert "lever" in capsys.readouterr().out
    assert json.loads(path.read_text())["levers"]["retain"]["available"] in (True, False)


def test_capture_and_replay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.tar.xz"
    assert doctor("--capture", str(path)) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "files" in said.err
    assert path.stat().st_size < 100_000
    assert doctor("--root", str(path)) == 0
    assert "(captured)" in capsys.readouterr().out


def test_the_environment_names_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "proc").mkdir()
    monkeypatch.setenv("OKOSU_ROOT", str(tmp_path))
    assert doctor() == 0
    text = capsys.readouterr().out
    assert "unknown processor" in text
    assert "not known which CPUs" in text


def test_a_program_that_nothing_reaches_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "setuid"
    copy.write_bytes(Path("/bin/true").read_bytes())
    copy.chmod(0o4755)
    assert doctor("--", str(copy)) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "cannot be preloaded" in text
    assert "ignores GLIBC_TUNABLES" in text


def test_recipes_for_the_program_are_listed_with_what_they_set_change_and_lack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = 'needs = ["/no/such/library"]\ninstall = "apt install libfast"\n'
    text = TEXT.replace('changes = "nothing"', 'changes = "rules"\nhazard = "it may lose data"')
    more = f'[[arm.value]]\nname = "lib"\nenv = {{ LD_PRELOAD = "{{library}}" }}\nsource = "x"\n{lacking}'
    (tmp_path / "fast.toml").write_text(text.replace("[proof]", f"{more}[proof]"))
    monkeypatch.delenv("MODE", raising=False)
    program = shutil.copy("/bin/true", tmp_path / "app")
    assert doctor("--recipes", str(tmp_path), "--", str(program)) == 0
    table = capsys.readouterr().out.partition("\nrecipe ")[2]
    assert max(map(len, table.splitlines())) <= 80
    told = " ".join(table.split())
    assert "fast yes a doc to try: MODE=fast changes rules: it may lose data" in told
    assert "lib: there is no /no/such/library for this program fix: apt install libfast" in told
    assert doctor("--recipes", str(tmp_path), "--json", "-", "--", str(program)) == 0
    said = json.loads(capsys.readouterr().out)["recipes"]["fast"]
    assert (said["arms"], said["lacking"][0]["fix"]) == ([["on"]], "apt install libfast")
    assert doctor("--recipes", str(tmp_path), "--", "/bin/true") == 0
    assert "\nrecipe " not in capsys.readouterr().out


def test_values_that_lack_the_same_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = ""
    for name, package in (("fast", "libfast"), ("faster", "libfast"), ("other", "libother")):
        values += f'[[arm.value]]\nname = "{name}"\nenv = {{ NEWS = "{name}" }}\nsource = "x"\n'
        values += f'needs = ["/no/such/{package}"]\ninstall = "apt install {package}"\n'
    (tmp_path / "fast.toml").write_text(TEXT.replace("[proof]", f"{values}[proof]"))
    monkeypatch.delenv("MODE", raising=False)
    program = tmp_path / "app"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o755)
    assert doctor("--recipes", str(tmp_path), "--", str(program)) == 0
    told = " ".join(capsys.readouterr().out.partition("\nrecipe ")[2].split())
    assert "fast, faster: not here; fix: apt install libfast other: not here; fix: apt install libother" in told


def test_a_program_that_a_recipe_would_harm_is_told_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TEXT.replace('names = ["app"]', 'names = ["app*"]\nexcepted = [{names = ["app8"], why = "it crashes"}]')
    (tmp_path / "fast.toml").write_text(text)
    program = shutil.copy("/bin/true", tmp_path / "app8")
    assert doctor("--recipes", str(tmp_path), "--", str(program)) == 0
    assert "fast no a doc it crashes" in " ".join(capsys.readouterr().out.split())
    assert doctor("--recipes", str(tmp_path), "--json", "-", "--", str(program)) == 0
    said = json.loads(capsys.readouterr().out)["recipes"]["fast"]
    assert (said["arms"], said["lacking"]) == ([], [{"why": "it crashes", "fix": ""}])


def test_doctor_works_without_the_launcher(tmp_path: Path) -> None:
    """Python itself knows the facts and the levers' needs; only questions about a program need the launcher."""
    code = "import okosu.native as n; n._candidates = lambda name: []\nfrom okosu.cli.main import dispatch\n"
    done = subprocess.run(
        [sys.executable, "-c", code + "dispatch(['doctor'])"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert "superpage" in done.stdout
