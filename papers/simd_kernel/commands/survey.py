# SPDX-License-Identifier: Apache-2.0
"""okosu lab survey: which loops of the kernel GCC vectorises, by compiler and option, beside the paper's list."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.cli import _kernel_options

if TYPE_CHECKING:
    from okosu.records.types import Record

NAME = "survey"
PLACE = 20
HELP = "which loops of the kernel the compiler vectorises by itself, beside the paper simd-kernel's list"
EXAMPLES = """\
  okosu lab survey                          every configuration (minutes for each that is not in the cache)
  okosu lab survey gcc-12-O3 stock          these
  okosu lab survey gcc-12-O2 --loops        each loop with what it does, and why the others were not vectorised
  okosu lab survey --json survey.json       everything as records
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("configurations", nargs="*", metavar="CONFIGURATION", help="of the survey (default: all; --dry-run lists them)")
    add("--loops", action="store_true", help="list each loop, and count the reasons why others were not vectorised")
    add("--kernel-source", type=Path, metavar="DIR", help="another kernel tree instead of Debian's linux-source-6.12")
    add("--json", metavar="FILE|-", help="write the records as JSON; -: to stdout")
    add("--dry-run", action="store_true", help="print which kernels would be built, and build nothing")


def run(args: argparse.Namespace) -> int:
    """Survey, and print the tables: 0, or 125."""
    from papers.simd_kernel.formats import SurveyFile
    from papers.simd_kernel.run import survey

    chosen = survey.find(args.configurations)
    if args.dry_run:
        for one in chosen:
            print(f"{one.name:18} {one.cc} -O2 {one.flags}".rstrip() + f"\n{'':18} {one.doc}")
        return 0
    records: list[Record] = []
    try:
        with _kernel_options.progress() as say:
            records.extend(survey.survey(chosen, args.kernel_source, say))
    finally:
        # What was surveyed is shown even where a compiler is missing.
        if records and args.json:
            _kernel_options.write_json(args.json, SurveyFile(records))
        if records and args.json != "-":
            print(render(records, args.loops))
    return 0


def render(records: Sequence[Record], every: bool) -> str:
    """Return the tables: a line for each configuration, the paper's Table 1 beside, and with `every` each loop."""
    from papers.simd_kernel.compare import table1

    names = table1.configurations(records)
    lines = [f"{'configuration':18} {'objects':>8} {'loops':>6} {'blocks':>7} {'code bytes':>11}"]
    for name in names:
        numbers = [table1.count(records, name, metric) or 0 for metric in ("objects", "loops", "blocks", "text")]
        lines.append("{:18} {:8.0f} {:6.0f} {:7.0f} {:11.0f}".format(name, *numbers))
    lines += ["", *_beside(records, names)]
    if every:
        for name in names:
            lines += ["", *_every(records, name)]
    return "\n".join(lines)


def _beside(records: Sequence[Record], names: Sequence[str]) -> list[str]:
    """Return the paper's Table 1 with ours beside it, one column for each configuration, and what is new."""
    from papers import common
    from papers.simd_kernel.compare import table1

    there = {entry.id: entry.value for entry in common.load()["simd-kernel"].published()}
    files = {name: Counter(str(one.parameters["file"]) for one in table1.loops(records, name)) for name in names}
    heads = "".join(f" {i:>4}" for i in range(1, len(names) + 1))
    lines = [f"{'loops vectorised in':34} paper{heads}   ({', '.join(f'{i} {n}' for i, n in enumerate(names, 1))})"]
    for row, file in table1.TABLE1.items():
        ours = "".join(f" {files[name][file]:4}" for name in names)
        lines.append(f"{file:34} {there[f't1.{row}']:5.0f}{ours}")
    known = set(table1.TABLE1.values())
    others = sorted({file for counter in files.values() for file in counter} - known)
    for file in others:
        lines.append(f"{file:34} {'':5}" + "".join(f" {files[name][file]:4}" for name in names))
    return lines


def _every(records: Sequence[Record], name: str) -> list[str]:
    from papers.simd_kernel.compare import table1

    lines = [f"{name}: each loop, the bytes of its vectors, what it does"]
    for one in table1.loops(records, name):
        said = one.parameters
        place = f"{said['file']}:{said['line']:.0f}"
        lines.append(f"  {place:44} {one.samples[0]:3.0f} {said['what']:8} {said['function']}")
    lines.append(f"{name}: loops that were not vectorised, by reason")
    missed = [one for one in records if one.variant == name and one.metric == "missed"]
    lines += [f"  {one.samples[0]:6.0f}  {one.parameters['reason']}" for one in missed]
    return lines
