# SPDX-License-Identifier: Apache-2.0
"""Points of a placement experiment: what the guest is told, and how its words and the model's counts come together."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.model import machines, model_plugin, plugin_counts
from lab.model.plugin_counts import Counts
from okosu.errors import OkosuError
from papers.superpage_colouring import placement
from papers.superpage_colouring.placement import Point, Setting

AGED = Setting("celeron-900", "stock", aged=True, seed=3)
NOTHING = {
    "instructions": 0,
    "loads": 0,
    "stores": 0,
    "load_bytes": 0,
    "store_bytes": 0,
    "flushes": 0,
    "crossings": 0,
    "io": 0,
    "found": [0, 0, 0],
    "full_lru_misses": [0, 0],
    "translated": [0, 0],
    "walks": [0, 0],
}


def counts(loads: int, misses: int) -> dict[str, Any]:
    found = [loads - misses, 0, misses]
    return NOTHING | {"instructions": 3 * loads, "loads": loads, "load_bytes": 8 * loads, "found": found}


def region(label: int, user: dict[str, Any], what: str = "region", broken: int = 0) -> dict[str, Any]:
    return {"what": what, "label": label, "cpu": 0, "broken": broken, "user": user, "kernel": NOTHING}


def said(label: int, frames: list[int]) -> str:
    vmstat = {"pgfault": 12, "page_color_hit": 9}
    words = {"label": label, "faults": 11, "huge_bytes": 0, "frames": frames, "vmstat": vmstat}
    return json.dumps(words) + "\n"


class Guest:
    """Stands in for QEMU: returns these lines and regions, and records what it was asked."""

    def __init__(self, folder: Path, stdout: str, regions: list[dict[str, Any]], status: int = 0) -> None:
        self.stdout, self.status, self.asked = stdout, status, []
        self.counts = folder / "counts"
        self.counts.write_text("".join(json.dumps(one) + "\n" for one in regions))

    def run(self, built: object, command: list[str], **more: object) -> object:
        self.asked.append((command, more))
        files = {model_plugin.COUNTS: self.counts}
        return SimpleNamespace(status=self.status, stdout=self.stdout.encode(), stderr=b"it is so", files=files)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return measure() for a guest that is given."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (programs := tmp_path / "programs").mkdir()
    for name in ("place_age", "place_transpose", "model.so"):
        (programs / name).write_text(name)
    plugin = SimpleNamespace(plugin=programs / "model.so")
    monkeypatch.setattr(placement.guest, "program", lambda name, say: programs / name)
    monkeypatch.setattr(placement.model_plugin, "build", lambda say: plugin)

    def measure(guest: Guest, setting: Setting, *points: Point) -> list[placement.Placed]:
        monkeypatch.setattr(placement.qemu, "run", guest.run)
        return placement.measure(SimpleNamespace(path=tmp_path), setting, points)  # type: ignore[arg-type]

    (tmp_path / "bzImage").write_bytes(b"kernel")
    return measure


def test_points_get_their_words_and_their_regions(tmp_path: Path, measured: Any) -> None:
    regions = [region(0, counts(9, 9), what="outside"), region(1, counts(100, 10)), region(2, counts(40, 4))]
    # With a co-runner between the repetitions there are several regions of one label.
    regions += [region(2, counts(1000, 0), what="outside"), region(2, counts(40, 6))]
    guest = Guest(tmp_path, said(1, [8, 17]) + said(2, [3]), regions)
    one, two = measured(guest, AGED, Point(85), Point(60, beside="hog"))
    assert (one.point.dimension, one.user.loads, one.user.misses(2), one.frames) == (85, 100, 10, [8, 17])
    assert (two.user.loads, two.user.misses(2), two.faults, two.vmstat["page_color_hit"]) == (80, 10, 11, 9)
    command, more = guest.asked[0]
    assert command[:2] == ["sh", "-c"]
    # The guest does not see where this machine keeps the programs.
    assert command[3:] == ["/place_age", "/place_transpose"]
    assert {name: str(path) for name, path in more["files"].items()} == {
        "/place_age": str(tmp_path / "programs/place_age"),
        "/place_transpose": str(tmp_path / "programs/place_transpose"),
    }
    assert (more["model"], more["seed"], more["memory"], more["kernel_args"]) == ("celeron-900", 3, "256M", [])


def test_what_was_measured_is_kept_by_all_that_decides_it(tmp_path: Path, measured: Any) -> None:
    guest = Guest(tmp_path, said(1, [8]), [region(1, counts(100, 10))])
    first = measured(guest, AGED, Point(85))
    assert measured(guest, AGED, Point(85)) == first
    assert len(guest.asked) == 1
    measured(guest, AGED, Point(86))
    measured(guest, Setting("celeron-900", "stock", aged=True, seed=4), Point(85))
    measured(guest, Setting("celeron-900", "stock", aged=False, seed=3), Point(85))
    assert len(guest.asked) == 4
    for count, compiled in enumerate(("bzImage", "programs/place_age", "programs/model.so"), 5):
        (tmp_path / compiled).write_bytes(b"another")
        assert measured(guest, AGED, Point(85)) == first
        assert len(guest.asked) == count


@pytest.mark.parametrize(
    ("stdout", "regions"),
    [
        ("", [region(1, counts(1, 0))]),
        (said(1, []), []),
        (said(2, []), [region(1, counts(1, 0))]),
        (said(1, []), [region(2, counts(1, 0))]),
        (said(1, []), [region(1, counts(1, 0), broken=1)]),
    ],
)
def test_a_guest_that_says_something_else_is_no_result(
    stdout: str, regions: list[dict[str, Any]], tmp_path: Path, measured: Any
) -> None:
    with pytest.raises(OkosuError, match="did not say what was asked"):
        measured(Guest(tmp_path, stdout, regions), AGED, Point(85))


def test_a_point_that_fails_is_named_by_its_own_words(tmp_path: Path, measured: Any) -> None:
    with pytest.raises(OkosuError) as raised:
        measured(Guest(tmp_path, "", [], status=1), AGED, Point(85))
    assert raised.value.why == "it is so"


def test_the_kernel_colours_from_the_start() -> None:
    def args(colour: str, **more: Any) -> list[str]:
        return placement.kernel_args(Setting("pentium4-1600", colour, aged=True, seed=1, **more))

    assert args("stock") == []
    assert args("shuffle") == ["page_alloc.shuffle=1"]
    assert args("hop") == ["page_color=16,hop"]
    assert args("fold", colours=128) == ["page_color=128,fold"]
    # The kernel has to be told the rows of the hash before colouring is switched on.
    assert args("hop", hashed=True) == ["page_color=16"]


def test_a_kernel_that_does_not_colour_fails_instead_of_giving_stock_s_figures() -> None:
    assert "does not place" not in placement.script(AGED, [Point(85)])
    for colour, proof in (("shuffle", 'parameters/shuffle)" = Y'), ("hop", "'\\[hop\\]' page_color/mode")):
        assert proof in placement.script(Setting("celeron-900", colour, aged=True, seed=1), [Point(85)])


def test_the_mode_switches_colouring_on() -> None:
    hashed = Setting("zen5-9950x", "hop", aged=True, seed=5, hashed=True)
    for setting in (Setting("celeron-900", "hop", aged=True, seed=1), hashed):
        assert "grep -q '\\[hop\\]' page_color/mode" in placement.script(setting, [Point(85)])
    assert "echo hop > page_color/mode" in placement.script(hashed, [Point(85)])


def test_masks_are_cpusets_in_the_default_mode() -> None:
    setting = Setting("celeron-900", "mask", aged=True, seed=1)
    assert placement.kernel_args(setting) == ["page_color=8,fold"]
    assert "grep -q '\\[fold\\]' page_color/mode" in placement.script(setting, [Point(85, mask=1)])


def test_the_shell_takes_every_script() -> None:
    points = [Point(85), Point(60, "thp", "remainder", beside="hog-apart"), Point(4, workload="build")]
    setting = Setting("zen5-9950x", "mask", aged=True, seed=5, hashed=True)
    text = placement.script(setting, [*points, Point(128, "hugetlb")])
    assert subprocess.run(["sh", "-n"], input=text.encode(), check=False).returncode == 0
    assert "printf '0:0x111\\n1:0x222\\n2:0x444\\n3:0x888\\n' > page_color/xor" in text
    # Programs in the order of their names: $1 builds, $2 transposes.
    assert '"$2" 4k whole alone 85 85 4 1 0 0\n' in text
    # The co-runner has the upper quarter of sixteen colours.
    assert '"$2" thp remainder hog 60 60 7 2 fff f000\n' in text
    assert '"$1" 4 3\n' in text
    assert "echo 1 > /proc/sys/vm/nr_hugepages" in text
    assert '"$0" aged 5 > /tmp/ready &' in text


@pytest.mark.parametrize(
    "point",
    [
        Point(8, pages="1g"),
        Point(8, layout="upside-down"),
        Point(8, beside="cat"),
        Point(8, workload="nap"),
        Point(8, mask=1),
        Point(8, beside="hog-apart"),
    ],
)
def test_what_cannot_be_asked_is_refused(point: Point) -> None:
    with pytest.raises(OkosuError):
        placement.check(AGED, [point])


def test_a_colour_is_refused_that_the_kernel_does_not_know() -> None:
    with pytest.raises(OkosuError, match="no colour is called 'blue'"):
        placement.check(Setting("celeron-900", "blue", aged=True, seed=1), [])


def test_colours_are_those_of_the_l2() -> None:
    celeron, zen5 = machines.find("celeron-900"), machines.find("zen5-9950x")
    assert [placement.colours_of(machine) for machine in (celeron, zen5)] == [8, 16]
    assert [placement.colour_of(celeron, frame) for frame in (0, 7, 8, 0x105)] == [0, 7, 0, 5]
    # Each bit of the hashed index is the parity of three of the frame's.
    assert [placement.colour_of(zen5, frame) for frame in (0x1, 0x10, 0x11, 0x111, 0x8)] == [1, 1, 0, 1, 8]


def test_short_points_repeat_more() -> None:
    assert [Point(dimension).rounds for dimension in (1, 50, 200)] == [25000, 10, 3]
    assert Point(50, repetitions=2).rounds == 2
    assert Point(50, workload="build").rounds == 1


def test_what_a_point_costs_is_the_machine_s() -> None:
    machine = machines.find("celeron-900")
    user = Counts(**counts(100, 10))
    placed = placement.Placed(AGED, Point(90), user, Counts(**NOTHING), 1, 0, [0, 8, 9], {})
    # A hundred instructions of one cycle, 90 loads of 3 cycles and 10 of 99.
    assert placed.cycles(machine) == pytest.approx(100 + 90 * 3 + 10 * 99)
    assert placed.megabytes_per_second(machine) == pytest.approx(800 / 1e6 * 900e6 / 1360)
    assert placed.fill(machine) == pytest.approx(16 * 90**2 / 131072)
    assert placed.colours(machine) == [2, 1, 0, 0, 0, 0, 0, 0]


def test_totals_add_every_count() -> None:
    total = plugin_counts.total([Counts(**counts(100, 10)), Counts(**counts(50, 7))])
    assert total == Counts(**counts(150, 17))
