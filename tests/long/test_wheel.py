# SPDX-License-Identifier: Apache-2.0
"""The wheel: its tag, and an installed copy that works without the checkout. Needs the registry (make test-lab)."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    # A copy of the tracked files only: what a source distribution holds, without the leftovers of a build.
    subprocess.run(["git", "clone", "--quiet", ROOT, folder / "source"], check=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, folder / "source"], check=True
    )
    (wheel,) = folder.glob("*.whl")
    assert wheel.name == f"okosu-0.1.0-py3-none-linux_{platform.machine()}.whl"
    venv.create(folder / "venv", with_pip=True)
    subprocess.run([folder / "venv/bin/python", "-m", "pip", "install", "--quiet", f"{wheel}[report]"], check=True)
    return folder / "venv/bin"


def run(installed: Path, tmp_path: Path, program: str, *argv: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": f"{installed}:/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    return subprocess.run(
        [installed / program, *argv], capture_output=True, text=True, check=False, cwd=tmp_path, env=env
    )


def test_the_commands_work_outside_the_checkout(installed: Path, tmp_path: Path) -> None:
    assert run(installed, tmp_path, "okosu", "--version").stdout.startswith("okosu 0.1.0")
    assert "superpage" in run(installed, tmp_path, "okosu", "doctor").stdout
    tried = run(
        installed, tmp_path, "okosu", "try", "--json", "t.json", "--levers", "none", "--arm", "a=A=1",
        "--max-rounds", "8", "--", "/bin/true",
    )  # fmt: skip
    assert tried.returncode == 0, tried.stderr
    assert run(installed, tmp_path, "okosu", "report", "t.json").returncode == 0
    assert (tmp_path / "t.html").stat().st_size > 10_000


def test_the_launcher_alone_finds_its_library(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "okosu-run", "--placebo", "--", "/bin/sh", "-c", "grep -c preload /proc/$$/maps")
    assert int(done.stdout) > 0, done.stderr
    assert run(installed, tmp_path, "okosu", "run", "--placebo", "--", "/bin/sh", "-c", "exit 5").returncode == 5


def test_copies_and_benchmarks_work_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "okosu", "run", "--copy", "--", "/bin/sh", "-c", "grep -c okosu-copy /proc/$$/maps")
    assert int(done.stdout) > 0, done.stderr
    done = run(installed, tmp_path, "okosu", "bench", "zero", "--smoke", "--only", "mix", "--json", "-")
    assert '"okosu.bench/1"' in done.stdout, done.stderr
    done = run(installed, tmp_path, "okosu", "bench", "blas1", "--smoke")
    assert done.returncode == 2
    assert "no benchmark is called 'blas1'" in done.stderr
    assert "the papers' benchmarks are in a checkout of okosu alone" in done.stderr


@pytest.mark.parametrize("command", ["lab", "reproduce"])
def test_what_only_a_checkout_has_is_told(installed: Path, tmp_path: Path, command: str) -> None:
    done = run(installed, tmp_path, "okosu", command, "--help")
    assert done.returncode == 2
    assert f"okosu {command} is not installed" in done.stderr
    assert "fix: a checkout of okosu" in done.stderr
    assert f"  {command} " not in run(installed, tmp_path, "okosu", "--help").stdout


def test_the_daemon_serves_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """The daemon's program is among the scripts, its engines are listed, and a program gets its pages through the
    launcher.
    """
    listed = [json.loads(line) for line in run(installed, tmp_path, "okosu-zerod", "--list").stdout.splitlines()]
    # The wheel has the engine opencl if the machine that built it had <CL/cl.h>.
    assert {engine["engine"] for engine in listed} - {"opencl"} == {"nt", "cuda"}
    assert [engine["serves"] for engine in listed if engine["engine"] == "nt"] == [True]
    daemon = subprocess.Popen(
        [installed / "okosu-zerod", f"--socket={tmp_path}/z", "--engine=nt", "--cap=256M"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert daemon.stdout is not None
        assert f"{tmp_path}/z" in daemon.stdout.readline()
        blocks = "for i in range(9): b = bytes(8 << 20)\nprint(len(b))"
        words = ("run", f"--prezero=broker:{tmp_path}/z", "--no-fork", "--strict", "--", "/usr/bin/python3", "-S", "-c")
        done = run(installed, tmp_path, "okosu", *words, blocks)
        assert done.stdout == f"{8 << 20}\n", done.stderr
    finally:
        daemon.terminate()
        assert daemon.wait() == 0


def test_neither_the_c_library_nor_the_other_rooms_are_in_the_wheel(installed: Path) -> None:
    names = {path.name for path in installed.parent.rglob("*")}
    assert {"libokosu-copy.so", "locale.toml"} <= names
    assert not {"libokosu.so", "libokosu.a", "vec.h", "okosu.pc"} & names
    assert not {"lab", "papers", "init.c", "files.f", "qemu_api.h"} & names
    assert not [name for name in names if name.endswith((".patch", ".sv")) or name.startswith("okosu-paper-")]
