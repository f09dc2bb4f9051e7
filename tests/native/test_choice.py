# SPDX-License-Identifier: Apache-2.0
"""Which copy or set routine the chooser takes: by itself, by a name in the environment, by a profile."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import copy_tool
import pytest
import zero_tool
from routine_tool import LAST, Checker, Choice


@dataclass(frozen=True)
class Area:
    """An area of routines; `plain` are variants that every machine has, the same twice where there is but one."""

    checker: Checker
    seen: Callable[[str, list[tuple[int, str]]], list[tuple[int, str]]]
    plain: tuple[str, str]
    names: tuple[str, ...]
    broken: int

    def show(self, *words: str, name: str = "", profile: Path | str = "") -> tuple[Choice, dict[str, str]]:
        """What the chooser takes where the environment names a variant or a profile."""
        prefix = f"OKOSU_{self.checker.name.partition('-')[0].upper()}"
        variables = {prefix: name, f"{prefix}_PROFILE": str(profile)}
        return self.checker.show(*words, **{key: value for key, value in variables.items() if value})


X86_NAMES = ("loop8", "sse2") if copy_tool.X86 else ("loop8", "neon")
AREAS = {
    "copy": Area(
        copy_tool.CHECKER, copy_tool.seen, ("ref", "loop8"), tuple(set(copy_tool.ROWS) - copy_tool.lacking()), 14
    ),
    "zero": Area(zero_tool.CHECKER, zero_tool.seen, ("loop8", "loop8"), X86_NAMES, 10),
}


@pytest.fixture(params=AREAS)
def area(request: pytest.FixtureRequest) -> Area:
    return AREAS[request.param]


def test_broken_ones_are_refused(area: Area) -> None:
    done = area.checker.run("--broken")
    assert done.returncode == 0, done.stdout
    assert "ACCEPTED" not in done.stdout
    assert len(done.stdout.splitlines()) == area.broken


def test_automatic_choice(area: Area) -> None:
    choice, said = area.show()
    assert said == {"state": "0"}
    assert set(choice) == set(area.checker.uses)
    for found in choice.values():
        bounds = [up_to for up_to, _ in found]
        assert bounds == sorted(set(bounds))
        assert bounds[-1] == LAST


def test_names_in_the_environment(area: Area) -> None:
    for name in area.names:
        choice, said = area.show(name=name)
        assert said == {"state": "0"}
        assert all(found == area.seen(use, [(LAST, name)]) for use, found in choice.items())


def test_wrong_name_leaves_the_automatic_choice(area: Area) -> None:
    choice, said = area.show(name="sse9")
    assert choice == area.show()[0]
    assert said["state"] == str(-errno.ENOENT)
    assert said["what"] == "sse9 is not a variant"
    assert said["fix"].startswith("one of ")
    assert "loop8" in said["fix"]


def test_name_comes_before_profile(area: Area, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.write_text(f"1024 {area.plain[0]}\nmax {area.plain[0]}\n")
    choice, _ = area.show(name="loop8", profile=profile)
    assert choice["any"] == area.seen("any", [(LAST, "loop8")])


def test_profile(area: Area, tmp_path: Path) -> None:
    profile, (one, two) = tmp_path / "profile", area.plain
    profile.write_text(f"# measured\n 64 {one} # small ones\r\n\n4096\t{two}\nmax {one}\n[far]\nmax {two}\n")
    automatic, _ = area.show()
    by_call, by_name = area.show("--profile", str(profile)), area.show(profile=profile)
    assert (by_call[1], by_name[1]) == ({"profile": "0"}, {"state": "0"})
    for choice, _ in (by_call, by_name):
        assert choice["any"] == area.seen("any", [(64, one), (4096, two), (LAST, one)])
        assert choice["far"] == area.seen("far", [(LAST, two)])
        assert {use: choice[use] for use in choice if use not in ("any", "far")} == {
            use: automatic[use] for use in automatic if use not in ("any", "far")
        }


def test_profile_that_cannot_be_read(area: Area, tmp_path: Path) -> None:
    automatic, _ = area.show()
    large = tmp_path / "large"
    large.write_text("#" * 20000)
    for path, error in ((tmp_path / "none", errno.ENOENT), (tmp_path, errno.EISDIR), (large, errno.EFBIG)):
        choice, said = area.show("--profile", str(path))
        assert said["profile"] == str(-error)
        assert str(path) in said["what"]
        assert said["why"]
        assert said["fix"]
        assert choice == automatic
        assert area.show(profile=path)[1]["state"] == str(-error)
