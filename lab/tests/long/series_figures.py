# SPDX-License-Identifier: Apache-2.0
"""What a series adds to structures and code, and what GCC and sparse say of it that they did not say before.

A paper's tests/long/series_figures.py prints it for the cover letter of its series (minutes; pahole is of Debian's
dwarves). Each object is built three times: without the series, with it and its options unset, and with them set.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lab import rooms
from lab.kernel import config
from lab.tests.long.kernel_commits import Workbench

# Set in all variants: options of files that the lab's configuration leaves out and the series change, and DMADEVICES,
# on which an option of a series depends.
WITH = dict.fromkeys(("BLOCK", "SWAP", "X86_MCE", "MEMORY_FAILURE", "DMADEVICES"), "y")
VARIANTS = ("without", "off", "on")
# Files that only an option for tests compiles.
_FOR_TESTS = ("_kunit.c", "_debug.c", "_mock.c")


@dataclass(frozen=True)
class Subject:
    """A series: its name, its options, those for tests alone, and the structures that it may change, by an object that
    has them."""

    name: str
    options: tuple[str, ...]
    tests: tuple[str, ...]
    structs: dict[str, tuple[str, ...]]


class Figures:
    """A series' three kernels, as far as they are needed."""

    def __init__(self, folder: Path, subject: Subject) -> None:
        self.subject = subject
        self.bench = Workbench(folder, subject.name, "x86")
        self.folder = folder

    def _asked(self, variant: str, tests: bool) -> config.Config:
        """Return the lab's own configuration, which has no option of any series, with the subject's where they are set.

        With `tests` the options that are there for tests are set as well.
        """
        folder = rooms.LAB / "config"
        fragments = [folder / "x86.fragment", *folder.glob(f"{self.bench.base}/x86.fragment")]
        asked = {name: value for path in fragments for name, value in config.parse(path.read_text()).items()}
        own = (*self.subject.options, *(self.subject.tests if tests else ())) if variant == "on" else ()
        return {**asked, **WITH, **dict.fromkeys(own, "y")}

    def built(self, variant: str) -> Path:
        """Return the folder of a variant's objects, which have debugging information."""
        objects = self._objects(variant, tests=False)
        return self.bench.make(self._asked(variant, tests=False), *objects, words=("KCFLAGS=-Werror -g",))

    def sizes(self) -> dict[str, list[int]]:
        """Return {structure: its bytes in each of VARIANTS}."""
        return {
            struct: [_bytes(self.built(variant) / obj, struct) for variant in VARIANTS]
            for obj, structs in self.subject.structs.items()
            for struct in structs
        }

    def growth(self, before: str, after: str) -> str:
        """Return bloat-o-meter's first and last line for two variants."""
        whole = {variant: self._linked(variant) for variant in (before, after)}
        script = self.bench.patched / "scripts/bloat-o-meter"
        lines = _output("python3", script, whole[before], whole[after]).splitlines()
        return f"{lines[0]}; {lines[-1]}"

    def _linked(self, variant: str) -> Path:
        """Return one object of all."""
        linked = self.folder / f"{variant}.o"
        if not linked.exists():
            _output("ld", "-r", "-o", linked, *sorted(self.built(variant).rglob("*.o")))
        return linked

    def complaints(self) -> Counter[str]:
        """Return what W=1 and sparse say of the files that the series changes, with it set, and did not say before."""
        return self._said("on", self.bench.complaints) - self._said("without", self.bench.complaints)

    def smatch(self) -> Counter[str]:
        """Return what smatch says of them and did not say before."""
        return self._said("on", self.bench.smatch) - self._said("without", self.bench.smatch)

    def _said(self, variant: str, check: Callable[..., Counter[str]]) -> Counter[str]:
        objects = self._objects(variant, tests=True)
        return check(self._asked(variant, tests=True), *objects)

    def _objects(self, variant: str, tests: bool) -> list[str]:
        """Return the objects of the files that the series changes which the variant has, and check its commit out."""
        base, *later = self.bench.commits
        paths = {path for commit in later for path in self.bench.changed(commit) if path.endswith(".c")}
        if not tests:
            paths = {path for path in paths if not path.endswith(_FOR_TESTS)}
        if variant != "on":
            self.bench.checkout(base)
            paths &= self.bench.files()
        self.bench.checkout(base if variant == "without" else later[-1])
        return self.bench.objects(paths)

    def text(self) -> str:
        """Return the lines of the cover letter."""
        rows = [f"  {struct:<24}{''.join(f'{size:>9,}' for size in row)}" for struct, row in self.sizes().items()]
        head = f"{'Bytes of struct (pahole)':<26}{''.join(f'{variant:>9}' for variant in VARIANTS)}"
        code = [f"  {what}: {self.growth(*pair)}" for what, pair in (("off", VARIANTS[:2]), ("on", VARIANTS[1:]))]
        return "\n".join([head, *rows, "Code and data of the files changed (bloat-o-meter)", *code])


def _bytes(obj: Path, struct: str) -> int:
    size = re.search(r"/\* size: (\d+)", _output("pahole", "-C", struct, obj))
    assert size, f"{obj} has no struct {struct}"
    return int(size[1])


def _output(*words: str | Path) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def show(subject: Subject) -> None:
    """Print one series' figures."""
    with TemporaryDirectory() as folder:
        print(Figures(Path(folder), subject).text())
