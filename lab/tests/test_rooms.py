# SPDX-License-Identifier: Apache-2.0
"""Rooms: what a paper's folder holds is found by its path alone, and the papers that are there are whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lab import rooms
from lab.kernel import config, series
from lab.run import guest, platforms
from lab.tests import lab_fake
from okosu.errors import OkosuError

pytestmark = lab_fake.needs_git


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a checkout whose only paper, papers/new, has just been added; the lab's room is the real one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(rooms, "CHECKOUT", tmp_path)
    new = tmp_path / "papers" / "new"
    lab_fake.add_series(new, "new-series")
    (new / "series/new-series/platform").write_text("uml\n")
    (new / "config").mkdir()
    (new / "config/um.fragment").write_text("CONFIG_NEW=y\n")
    (new / "config/um-new.fragment").write_text("CONFIG_NEWER=y\n")
    (new / "guest").mkdir()
    (new / "guest/new.h").write_text("#define STATUS 4\n")
    (new / "guest/new.c").write_text('#include "new.h"\n#include "work.h"\nint main(void) { return STATUS; }\n')
    return tmp_path


def test_a_new_papers_series_configuration_and_program_are_found(checkout: Path) -> None:
    assert series.names() == ["new-series"]
    assert series.of_platform("uml") == ("new-series",)
    assert series.of_platform("x86") == ()
    # Its fragment of the platform's name adds to the lab's own.
    asked = config.fragments(["um", "um-new"])
    assert (asked["NEW"], asked["NEWER"], asked["64BIT"]) == ("y", "y", "y")
    assert subprocess.run([guest.program("new")], check=False).returncode == 4


DRY_RUN = """
import sys
from pathlib import Path
from lab import rooms
rooms.CHECKOUT = Path(sys.argv[1])
from okosu.cli.main import main
sys.argv = ["okosu", "lab", "build", "uml", "--dry-run", "--kernel-source", sys.argv[2]]
sys.exit(main())
"""


def test_a_platforms_kernel_gets_a_new_papers_series_by_default(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab_fake.source(checkout / "linux")
    (checkout / "tools").mkdir()
    for name in ("flex", "bison", "bc", "xz"):
        (checkout / "tools" / name).symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(checkout / "tools"), prepend=":")
    words = [sys.executable, "-c", DRY_RUN, str(checkout), str(checkout / "linux")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "series: new-series (2 patches)\n" in done.stdout


def test_a_name_in_two_rooms_is_refused_with_both(checkout: Path) -> None:
    other = checkout / "papers" / "other"
    lab_fake.add_series(other, "new-series")
    (other / "guest").mkdir()
    (other / "guest/new.c").write_text("int main(void) { return 0; }\n")
    for found in (lambda: series.find("new-series"), lambda: guest.program("new")):
        with pytest.raises(OkosuError, match="new") as caught:
            found()
        assert "papers/new" in caught.value.why
        assert "papers/other" in caught.value.why


def test_each_series_names_a_platform_that_there_is_or_none() -> None:
    known = {row.name for row in platforms.TABLE}
    files = [series.find(name).patches[0].with_name("platform") for name in series.names()]
    said = {path.read_text().strip() for path in files if path.exists()}
    assert said
    assert said <= known


def test_a_series_without_a_platform_is_applied_only_where_it_is_named(checkout: Path) -> None:
    (checkout / "papers/new/series/new-series/platform").unlink()
    assert series.names() == ["new-series"]
    assert series.of_platform("uml") == series.of_platform("x86") == ()
    assert len(series.find("new-series").patches) == 2


def test_the_platforms_defaults_are_all_of_their_series_in_alphabetical_order() -> None:
    for row in platforms.TABLE:
        assert row.recipe.series == series.of_platform(row.name)
        assert list(row.recipe.series) == sorted(row.recipe.series)


@pytest.mark.long
@pytest.mark.parametrize("source", rooms.find("guest/*.c"), ids=lambda path: path.stem)
def test_each_guest_program_compiles(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert guest.program(source.stem).is_file()
