# SPDX-License-Identifier: Apache-2.0
"""Page colouring in a guest: scripts that switch it, and what the programs of guest/colour_*.c say of pages."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from lab.kernel.build import Built
from lab.run import guest, qemu
from lab.run.outcome import Outcome

SYSFS = "/sys/kernel/mm/page_color"
COLOURS = 16
TIMEOUT_S = 1800.0

MODES = ("hop", "fold")
# The beginning of each script: the programs by name, and the functions `off` and `colour MODE`, where the mode `mask`
# is fold, for programs that have a mask.
_PRELUDE = f"""
set -e
for file in enabled defrag; do echo madvise > /sys/kernel/mm/transparent_hugepage/$file; done
off() {{ echo off > {SYSFS}/mode; }}
mode() {{ echo "$1" | sed s/mask/fold/ > {SYSFS}/mode; }}
colour() {{ off; echo {COLOURS} > {SYSFS}/ncolors; mode "$1"; }}
"""


@dataclass(frozen=True)
class Page:
    """A page of a program's memory: its number in the address space, and its frames before and after; 0: none."""

    number: int
    before: int
    after: int


def run(built: Built, script: str, **machine: object) -> Outcome:
    """Run a shell script that has PROGRAM as $PROGRAM for each colour_PROGRAM, and place_age as $age; it must exit
    with 0.

    The machine is exact unless the options say otherwise, so that a test finds the same in each run.
    """
    names = {name: f"colour_{name}" for name in ("blocks", "cost", "free", "huge", "pages", "stress")} | {
        "age": "place_age"
    }
    programs = {name: guest.program(program) for name, program in names.items()}
    given: dict[str, object] = {"timeout": TIMEOUT_S, "memory": "256M", "exact": True, **machine}
    where = {name: str(path) for name, path in programs.items()}
    if given["exact"]:
        where = {name: f"/{path.name}" for name, path in programs.items()}
        given["files"] = {where[name]: path for name, path in programs.items()}
    known = "".join(f"{name}={path}\n" for name, path in where.items())
    command = ["sh", "-c", _PRELUDE + known + script]
    outcome = qemu.run(built, command, **given)  # type: ignore[arg-type]
    assert outcome.status == 0, outcome.console[-3000:]
    return outcome


def sections(outcome: Outcome) -> dict[str, list[str]]:
    """Return the lines below each line "== NAME" of what was printed."""
    found: dict[str, list[str]] = {}
    for line in outcome.stdout.decode().splitlines():
        if line.startswith("== "):
            lines = found.setdefault(line[3:], [])
        else:
            lines.append(line)
    return found


def pages(lines: list[str]) -> list[Page]:
    """Return what colour_pages printed."""
    return [Page(*map(int, line.split())) for line in lines]


def counts(frames: list[int], colours: int = COLOURS) -> list[int]:
    """Return how many frames have each colour."""
    found = Counter(frame % colours for frame in frames)
    return [found[colour] for colour in range(colours)]


def agreement(found: list[Page], wanted: Callable[[int], int], colours: int = COLOURS) -> float:
    """Return the share of pages whose colour is what `wanted` has for their number, up to one shift for all."""
    shifts = Counter((page.before - wanted(page.number)) % colours for page in found)
    return shifts.most_common(1)[0][1] / len(found)


def steps(colours: list[int], of: int = COLOURS) -> float:
    """Return the share of colours that are the one after the colour before."""
    found = [(after - before) % of for before, after in itertools.pairwise(colours)]
    return found.count(1) / len(found)


def fold(number: int, colours: int = COLOURS) -> int:
    """Return the colour that the mode fold gives a virtual page, without the random shift of its address space."""
    bits = colours.bit_length() - 1
    rows = number >> (bits + 2)
    return (number + rows + (rows >> bits)) % colours


def kept_colour(found: list[Page], colours: int = COLOURS) -> tuple[int, int]:
    """Return how many pages were moved, and how many of them to a frame of the same colour."""
    moved = [page for page in found if page.after and page.after != page.before]
    return len(moved), sum(page.before % colours == page.after % colours for page in moved)


def memory(lines: list[str]) -> dict[str, int]:
    """Return what colour_free printed, with `rest`: pages that the kernel uses without saying for what."""
    (line,) = lines
    said: dict[str, int] = json.loads(line)
    return {**said, "rest": said["managed"] - said["buddy"] - said["percpu"] - said["used"]}
