# SPDX-License-Identifier: Apache-2.0
"""What a series adds to structures and code, and what GCC and sparse say of it that they did not say before:

    python -m papers.common.tests.long.series_figures page-colour|hugetlb-prezero

prints it for the series' cover letter (minutes; pahole is of Debian's dwarves). There are three of each object: without
the series, with it and its options unset, and with them set.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lab import config
from lab.tests.long.kernel_commits import Workbench

# Files that a configuration of the lab's leaves out, and the series change.
WITH = dict.fromkeys(("BLOCK", "SWAP", "X86_MCE", "MEMORY_FAILURE"), "y")
VARIANTS = ("without", "off", "on")
# Files that only an option for tests compiles.
_FOR_TESTS = ("_kunit.c", "_debug.c", "_mock.c")


@dataclass(frozen=True)
class Subject:
    """A series: its options, those for tests alone, and structures that it may change by an object that has them."""

    options: tuple[str, ...]
    tests: tuple[str, ...]
    structs: dict[str, tuple[str, ...]]


SUBJECTS = {
    "page-colour": Subject(
        ("PAGE_COLOR",),
        ("PAGE_COLOR_KUNIT_TEST",),
        {"mm/page_alloc.o": ("page", "zone", "per_cpu_pages", "mm_struct", "task_struct")},
    ),
    "hugetlb-prezero": Subject(
        ("FOLIO_ZERO_RANGES", "HUGETLB_PREZERO", "HUGETLB_PREZERO_DMA", "HUGETLB_PREZERO_USER"),
        ("FOLIO_ZERO_KUNIT_TEST", "HUGETLB_PREZERO_DEBUG", "HUGETLB_PREZERO_MOCK"),
        {"mm/hugetlb.o": ("page", "folio", "hstate", "resv_map")},
    ),
}


class Figures:
    """A series' three kernels, as far as they are needed."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name, self.subject = name, SUBJECTS[name]
        self.bench = Workbench(folder, name, "x86")
        self.folder = folder

    def _asked(self, variant: str, tests: bool) -> config.Config:
        """Return a configuration with no option of any series but the subject's own, where they are to be set.

        With `tests` those are set as well that are there for tests.
        """
        theirs = {option for one in SUBJECTS.values() for option in (*one.options, *one.tests)}
        asked = {name: value for name, value in config.fragments(("x86",)).items() if name not in theirs}
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
        return self._said("on") - self._said("without")

    def _said(self, variant: str) -> Counter[str]:
        objects = self._objects(variant, tests=True)
        return self.bench.complaints(self._asked(variant, tests=True), *objects)

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
        return sorted(f"{path[:-2]}.o" for path in paths)

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


def main() -> None:
    """Print one series' figures."""
    with TemporaryDirectory() as folder:
        print(Figures(Path(folder), sys.argv[1]).text())


if __name__ == "__main__":
    main()
