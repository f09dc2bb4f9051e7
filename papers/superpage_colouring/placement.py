# SPDX-License-Identifier: Apache-2.0
"""Where the kernel places a program's pages, and what that costs on a machine: points of an experiment, run in a guest
under the memory-hierarchy model.

A Setting is one boot: a machine, how the kernel colours pages, and what state memory is in. Its points run in it one
after the other, each a process of its own. Everything is deterministic, so that results are kept by the hash of all
that decides them.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from lab import cache
from lab.cache import Say, quiet
from lab.kernel.build import Built
from lab.model import machines, model_plugin, plugin_counts
from lab.model.plugin_counts import Counts
from lab.run import guest, qemu
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError

COLOURS = ("stock", "shuffle", "hop", "fold", "mask")
PAGES = ("4k", "thp", "hugetlb")
LAYOUTS = ("whole", "remainder")
BESIDE = ("", "hog", "hog-apart")
WORKLOADS = ("transpose", "build")

_KIND = "placement"
_RESULT = "placed.json"
_TIMEOUT_S = 600.0
_PAGE = 4096
_HUGE = 2 << 20
# The least accesses of a point's repetitions, so that a mark and the one interrupt there may be are a small part.
_ACCESSES = 50_000
_FEWEST = 3
# The co-runner that is kept apart gets the upper quarter of the colours: one part in so many.
_HOG_PART = 4


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One boot. `machine` is of model/machines; `colour` one of COLOURS: stock, stock with page_alloc.shuffle=1, a mode
    of the series page-colour, on since boot, or mask: fold, for programs in cpusets with masks; `colours` how many
    there are, 0: as many as pages in a way of the machine's L2; `aged` or fresh memory (guest/place_age.c); `seed`
    draws its order and all of the kernel's randomness; `hashed`: the kernel knows the L2's rows.
    """

    machine: str
    colour: str
    aged: bool
    seed: int
    colours: int = 0
    memory: str = "256M"
    hashed: bool = False


class Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One process: a transpose of `dimension`² doubles (guest/place_transpose.c), or a `build`
    (place_build.c), whose `dimension` is the number of its units.

    `pages` and `layout` are the set's; rows are `pitch` elements apart, 0: as many as there are in one; `repetitions`
    0: as many as make enough accesses. `beside` "hog": a co-runner has its turn after each repetition; "hog-apart":
    it has colours of its own. `mask`: bits of the colours that the process may have, 0: all; both need the colour mask.
    """

    dimension: int
    pages: str = "4k"
    layout: str = "whole"
    pitch: int = 0
    repetitions: int = 0
    beside: str = ""
    mask: int = 0
    workload: str = "transpose"

    @property
    def rounds(self) -> int:
        """Return how many repetitions are counted."""
        if self.workload == "build":
            return 1
        return self.repetitions or max(_FEWEST, -(-_ACCESSES // (2 * self.dimension**2)))

    @property
    def bytes(self) -> int:
        """Return the bytes of the elements of both arrays."""
        return 16 * self.dimension**2


class Placed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came of a point: counts of the program's and the kernel's accesses in its region, page faults of the process
    before it, bytes of its set in pages of 2 MiB, the frames of the set's pages of 4 KiB in the order of their
    addresses, and by how much the kernel's counters grew while it ran."""

    setting: Setting
    point: Point
    user: Counts
    kernel: Counts
    faults: int
    huge_bytes: int
    frames: list[int]
    vmstat: dict[str, int]

    def cycles(self, machine: machines.Machine) -> float:
        """Return the cycles of the region on `machine`: the one of the setting, or one that differs in latencies."""
        return self.user.cycles(machine) + self.kernel.cycles(machine)

    def megabytes_per_second(self, machine: machines.Machine) -> float:
        """Return the 10^6 bytes that the program loaded and stored in a second."""
        return self.user.bytes / 1e6 / (self.cycles(machine) / machine.hertz)

    def fill(self, machine: machines.Machine) -> float:
        """Return the elements' bytes as a share of the L2's."""
        return self.point.bytes / machine.cache[1].bytes

    def colours(self, machine: machines.Machine) -> list[int]:
        """Return how many of the set's pages have each colour of the L2."""
        counts = [0] * colours_of(machine)
        for frame in self.frames:
            counts[colour_of(machine, frame)] += 1
        return counts


class _Said(msgspec.Struct, frozen=True):
    label: int
    faults: int
    huge_bytes: int
    frames: list[int]
    vmstat: dict[str, int]


def colours_of(machine: machines.Machine) -> int:
    """Return the number of colours of pages of 4 KiB that the machine's L2 tells apart."""
    return machine.cache[1].bytes // machine.cache[1].ways // _PAGE


def colour_of(machine: machines.Machine, frame: int) -> int:
    """Return the colour of a page frame in the machine's L2."""
    rows = {bit: frame >> bit & 1 for bit in range(colours_of(machine).bit_length() - 1)}
    rows |= {bit: (frame & mask).bit_count() & 1 for bit, mask in rows_of(machine).items()}
    return sum(value << bit for bit, value in rows.items())


def rows_of(machine: machines.Machine) -> dict[int, int]:
    """Return {bit of the colour: bits of the frame whose parity it is} of a hashed L2, {} of one that is not."""
    l2 = machine.cache[1]
    first = (_PAGE // l2.line).bit_length() - 1
    return {int(bit) - first: mask // _PAGE for bit, mask in l2.rows.items()}


def measure(built: Built, setting: Setting, points: Sequence[Point], say: Say = quiet) -> list[Placed]:
    """Return what came of the points, in their order, all in one boot of `built`; from the cache where it is there.

    A point finds memory as the points before it left it, so that their order matters.
    OkosuError (2) where something is not known, GuestError where a point fails.
    """
    machine = machines.find(setting.machine)
    check(setting, points)
    files = {f"/{name}": guest.program(name, say) for name in _programs(points)}
    shape = machine.shape(1, model_plugin.SEED)
    # By what was compiled and not by its sources: a change that leaves the code as it was leaves the result.
    compiled = {**files, "kernel": built.path / "bzImage", "model": model_plugin.build(say).plugin}
    parts = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in compiled.items()}, shape
    told = script(setting, points)
    key = cache.key(parts, msgspec.to_builtins(setting), msgspec.to_builtins(list(points)), told)

    def fill(folder: Path) -> None:
        say(f"{setting.machine}, {setting.colour}, {'aged' if setting.aged else 'fresh'}, seed {setting.seed}")
        command = ["sh", "-c", told, *files]
        outcome = qemu.run(
            built,
            command,
            kernel_args=kernel_args(setting),
            model=setting.machine,
            memory=setting.memory,
            seed=setting.seed,
            files=files,
            timeout=_TIMEOUT_S,
        )
        if outcome.status:
            said = outcome.stderr.decode(errors="replace").strip() or f"exit status {outcome.status}"
            raise OkosuError("a point of a placement experiment failed", said, "", LAUNCHER_FAILED)
        regions = model_plugin.regions(outcome.files[model_plugin.COUNTS])
        placed = _joined(setting, points, outcome.stdout, regions)
        (folder / _RESULT).write_bytes(msgspec.json.encode(placed))

    kept = cache.made(_KIND, key, fill, say) / _RESULT
    return msgspec.json.decode(kept.read_bytes(), type=list[Placed])


def _programs(points: Sequence[Point]) -> list[str]:
    return [f"place_{name}" for name in ("age", *sorted({point.workload for point in points}))]


def check(setting: Setting, points: Sequence[Point]) -> None:
    """Raise OkosuError (2) where a setting or a point has an unknown name, or asks for an impossible combination."""
    asked: list[tuple[str, str, tuple[str, ...]]] = [("colour", setting.colour, COLOURS)]
    for point in points:
        asked += [("page size", point.pages, PAGES), ("layout", point.layout, LAYOUTS)]
        asked += [("co-runner", point.beside, BESIDE), ("workload", point.workload, WORKLOADS)]
        if (point.mask or point.beside == "hog-apart") and setting.colour != "mask":
            raise OkosuError("colours of a process's own", "only the colour mask has them", "colour=mask", USAGE_ERROR)
    for what, word, known in asked:
        if word not in known:
            raise OkosuError(f"no {what} is called {word!r}", f"they are {', '.join(known)}", "", USAGE_ERROR)


def kernel_args(setting: Setting) -> list[str]:
    """Return the kernel's parameters: colouring is on from boot, unless the kernel has to be told the rows first."""
    if setting.colour == "stock":
        return []
    if setting.colour == "shuffle":
        return ["page_alloc.shuffle=1"]
    count = _count(setting)
    return [f"page_color={count}" if setting.hashed else f"page_color={count},{_mode(setting)}"]


def script(setting: Setting, points: Sequence[Point]) -> str:
    """Return the guest's shell script: $0 is the ageing program, $1 and so on are those of the workloads."""
    lines = ["set -e", "cd /sys/kernel/mm"]
    lines += [f"echo always > transparent_hugepage/{name}" for name in ("enabled", "defrag")]
    if setting.hashed:
        rows = rows_of(machines.find(setting.machine))
        said = "\\n".join(f"{bit}:{mask:#x}" for bit, mask in sorted(rows.items()))
        lines += [f"printf '{said}\\n' > page_color/xor", f"echo {_mode(setting)} > page_color/mode"]
    lines += _proofs(setting)
    # The pool of huge pages is reserved while memory is fresh, as on any machine.
    if most := max((_pool(point) for point in points if point.pages == "hugetlb"), default=0):
        lines += [f"echo {most} > /proc/sys/vm/nr_hugepages", f'test "$(cat /proc/sys/vm/nr_hugepages)" = {most}']
    state = "aged" if setting.aged else "fresh"
    lines += ["mkfifo /tmp/ready", f'"$0" {state} {setting.seed} > /tmp/ready &', "read said < /tmp/ready"]
    programs = sorted({point.workload for point in points})
    lines += [_words(setting, point, label, programs) for label, point in enumerate(points, 1)]
    return "\n".join(lines) + "\n"


def _mode(setting: Setting) -> str:
    """Return the mode of the series: masks go with either, and are those of addresses here."""
    return "fold" if setting.colour == "mask" else setting.colour


def _proofs(setting: Setting) -> list[str]:
    """Return shell commands that fail where the kernel does not place pages as asked: it ignores parameters that it
    does not know."""
    if setting.colour == "stock":
        return []
    if setting.colour == "shuffle":
        shown = [("/sys/module/page_alloc/parameters/shuffle", "Y")]
    else:
        shown = [("page_color/ncolors", str(_count(setting)))]
    tests = [f'[ "$(cat {path})" = {value} ]' for path, value in shown]
    if setting.colour != "shuffle":
        tests.append(f"grep -q '\\[{_mode(setting)}\\]' page_color/mode")
    return [f"{test} || {{ echo this kernel does not place pages by {setting.colour} >&2; exit 1; }}" for test in tests]


def _count(setting: Setting) -> int:
    return setting.colours or colours_of(machines.find(setting.machine))


def _pool(point: Point) -> int:
    """Return how many pages of 2 MiB the set needs."""
    pitch = point.pitch or point.dimension
    return -(-(2 * (8 * pitch * point.dimension + 64)) // _HUGE)


def _words(setting: Setting, point: Point, label: int, programs: Sequence[str]) -> str:
    program = f'"${programs.index(point.workload) + 1}"'
    if point.workload == "build":
        return f"{program} {point.dimension} {label}"
    count = _count(setting)
    mask, hog = point.mask, 0
    if point.beside == "hog-apart":
        hog = ((1 << count) - 1) ^ ((1 << (count - max(1, count // _HOG_PART))) - 1)
        mask = mask or ((1 << count) - 1) ^ hog
    words = [point.pages, point.layout, "hog" if point.beside else "alone", point.dimension]
    words += [point.pitch or point.dimension, point.rounds, label, f"{mask:x}", f"{hog:x}"]
    return f"{program} {shlex.join(map(str, words))}"


def _joined(
    setting: Setting, points: Sequence[Point], stdout: bytes, regions: list[plugin_counts.Region]
) -> list[Placed]:
    said = [msgspec.json.decode(line, type=_Said) for line in stdout.splitlines()]
    marked = groupby(plugin_counts.inside(regions), key=lambda region: region.label)
    counts = {
        label: (plugin_counts.total([r.user for r in of]), plugin_counts.total([r.kernel for r in of]))
        for label, of in ((label, list(of)) for label, of in marked)
    }
    labels = list(range(1, len(points) + 1))
    if [one.label for one in said] != labels or list(counts) != labels or any(region.broken for region in regions):
        why = f"{len(points)} points, {len(said)} lines, {len(counts)} regions"
        raise OkosuError("a placement experiment's guest did not say what was asked", why, "", LAUNCHER_FAILED)
    return [
        Placed(setting, point, *counts[one.label], one.faults, one.huge_bytes, one.frames, one.vmstat)
        for point, one in zip(points, said, strict=True)
    ]
