# SPDX-License-Identifier: Apache-2.0
"""Commands that other distributions register, and the message where none does."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from okosu import plugins
from okosu.cli import main
from okosu.errors import OkosuError


@pytest.fixture(autouse=True)
def fresh() -> None:
    plugins.load.cache_clear()


@pytest.mark.parametrize("command", ["lab", "reproduce"])
def test_without_its_room_a_command_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda **_: [])
    with pytest.raises(OkosuError, match=f"okosu {command} is not installed") as caught:
        main.dispatch([command])
    assert "checkout" in caught.value.fix
    assert command not in main.commands()


def test_a_distribution_on_the_path_adds_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "other-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[okosu.commands]\nother = other_okosu_command\n")
    (tmp_path / "other_okosu_command.py").write_text(
        'NAME, HELP, EXAMPLES = "other", "", ""\n\ndef add_arguments(parser): pass\n\ndef run(args): return 7\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert main.dispatch(["other"]) == 7
    sys.modules.pop("other_okosu_command")


def test_the_checkout_registers_both_rooms() -> None:
    assert {"lab", "reproduce"} <= main.commands().keys()


def test_a_command_is_found_alone_as_it_is_among_all() -> None:
    assert {name: main.command(name) for name in main.commands()} == main.commands()
    assert main.command("no-such") is None


def test_trying_loads_nothing_of_the_lab_and_the_papers() -> None:
    script = (
        "import sys; from okosu.cli import main; main.dispatch(['try', '--dry-run', '--', 'true']);"
        "sys.exit(any(name.partition('.')[0] in ('lab', 'papers') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], stdout=subprocess.DEVNULL, check=False).returncode == 0
