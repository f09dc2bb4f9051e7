# SPDX-License-Identifier: Apache-2.0
"""okosu lab profile: where the kernel's time goes, by function and copy routine; and who copies how many bytes."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from lab.cli import _kernel_options
from okosu.errors import INTERRUPTED, USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from lab.cache import Say
    from okosu.records.types import Record
    from papers.simd_kernel.formats import HistogramFile
    from papers.simd_kernel.run.histogram import Site, Size

NAME = "profile"
PLACE = 10
HELP = "where the kernel's time goes under a set of workloads, by copy routine"
EXAMPLES = """\
  okosu lab profile uml                          10 boots of each routine: half an hour
  okosu lab profile uml --rounds 3 --variants orig,movsb,avx2
  okosu lab profile uml --workloads pipe-512,copy-4096 --alone 3   and each workload by itself
  okosu lab profile uml --histogram              who copies how many bytes: call sites and sizes
  okosu lab profile uml --unixbench ~/byte-unixbench/UnixBench     UnixBench's programs instead: 25 minutes
  okosu lab profile uml --unixbench DIR --workloads pipe --variants orig,movsb --rounds 5   one of its tests
"""
UNITS = 12
"""Functions of the table of each routine."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("platform", metavar="PLATFORM", choices=["uml"], help="uml: a kernel that is a process of this machine")
    # None where an option is not given: one that means nothing beside another is refused.
    add("--rounds", type=int, metavar="N", help="boots of each routine (default 10; with --unixbench, of each test: 1)")
    add("--alone", type=int, metavar="N", help="and N boots of each routine and workload by itself")
    add("--variants", metavar="NAME,…", help="these routines (default: all that this machine can run)")
    add("--workloads", default="", metavar="NAME,…", help="these workloads (default: all; --dry-run lists them)")
    add("--scale", type=float, default=1.0, metavar="X", help="X times the workloads' repetitions (default 1)")
    add("--seed", type=int, metavar="N", help="of the order of the boots (default 1)")
    add("--histogram", action="store_true", help="count callers and sizes of memcpy and memset instead")
    add("--unixbench", type=Path, metavar="DIR", help="run UnixBench's programs from this checkout, built, instead")
    add("--kernel-source", type=Path, metavar="DIR", help="another kernel tree instead of Debian's linux-source-6.12")
    add("--json", metavar="FILE|-", help="write the records as JSON; -: to stdout")
    add("--dry-run", action="store_true", help="print which kernel and workloads, and run nothing")


def run(args: argparse.Namespace) -> int:
    """Profile and print the tables: 0, 2 or 125."""
    from okosu.cli._lock import measuring
    from papers.simd_kernel.formats import ProfileFile
    from papers.simd_kernel.run.kept import Kept

    _refuse(args)
    if args.dry_run or args.histogram:
        return _plan(args) if args.dry_run else _histogram(args)

    # SIGTERM becomes KeyboardInterrupt, so that the guest is ended and the results until then are shown.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    measured = _measurement(args)
    kept = Kept(str(ProfileFile.__struct_config__.tag), args.json, "profile")
    with measuring(), _kernel_options.progress() as say:
        interrupted = kept.take(measured(kept.before(say)))
    if args.json == "-":
        print(kept.text())
    elif kept.records:
        print(render(kept.records))
    if kept.records:
        print(f"records: {kept.path}", file=sys.stderr)
    if interrupted:
        print("interrupted: the records hold what was measured until then", file=sys.stderr)
        return INTERRUPTED
    return 0


_MEANINGLESS = {
    "histogram": (("rounds", "alone", "variants", "seed"), "it counts in one boot, whatever routine is called"),
    "unixbench": (("alone",), "each test of UnixBench has a boot of its own"),
}
"""Options that mean nothing beside another one, and why."""


def _refuse(args: argparse.Namespace) -> None:
    """Raise OkosuError (2) where options have values that cannot be, or do not go together."""
    if args.histogram and args.unixbench:
        raise OkosuError("--histogram and --unixbench exclude each other", "", "one of them", USAGE_ERROR)
    for mode, (names, why) in _MEANINGLESS.items():
        given = [name for name in names if getattr(args, name) is not None]
        if getattr(args, mode) and given:
            raise OkosuError(
                f"--{given[0]} does not go with --{mode}", why, f"the same without --{given[0]}", USAGE_ERROR
            )
    if (args.rounds is not None and args.rounds < 1) or (args.alone or 0) < 0 or not args.scale > 0:
        raise OkosuError("--rounds is 1 or more, --alone 0 or more, --scale above 0", "", "", USAGE_ERROR)


def _plan(args: argparse.Namespace) -> int:
    """Print which kernel, workloads and boots there would be."""
    from papers.simd_kernel import plan
    from papers.simd_kernel.run import unixbench, workloads

    names = _names(args.workloads)
    if args.unixbench:
        folder = unixbench.check(args.unixbench)
        todo = [(one.name, one.shared(args.scale).command(folder)) for one in unixbench.find(names)]
    else:
        todo = [(one.name, one.command(Path(), args.scale)) for one in workloads.find(names)]
    print(f"kernel: uml, {', '.join(plan.STATS if args.histogram else plan.GPROF)}")
    for name, command in todo:
        print(f"{name:12} {' '.join(command)}")
    if not args.histogram:
        print(f"boots: {_rounds(args)} of each {'test and routine' if args.unixbench else 'routine'}")
        print(f"routines: {', '.join(_names(args.variants)) or 'all that this machine can run'}")
    return 0


def _rounds(args: argparse.Namespace) -> int:
    from papers.simd_kernel import plan
    from papers.simd_kernel.run import unixbench

    own = unixbench.ROUNDS if args.unixbench else plan.ROUNDS
    return own if args.rounds is None else int(args.rounds)


def _measurement(args: argparse.Namespace) -> Callable[[Say], Iterator[Record]]:
    """Return the measurement that the options ask for; OkosuError (2) where a name among them is unknown."""
    from papers.simd_kernel.run import profiling, unixbench, workloads

    names, variants = _names(args.workloads), _names(args.variants)
    seed = 1 if args.seed is None else args.seed
    common = {"variants": variants, "rounds": _rounds(args), "seed": seed, "source": args.kernel_source}
    if args.unixbench:
        folder, tests = unixbench.check(args.unixbench), unixbench.find(names)
        return lambda say: unixbench.measure(folder, chosen=tests, share=args.scale, say=say, **common)
    chosen, alone = workloads.find(names), args.alone or 0
    return lambda say: profiling.measure(chosen=chosen, scale=args.scale, alone=alone, say=say, **common)


def _histogram(args: argparse.Namespace) -> int:
    from lab.run import guest, uml
    from papers.simd_kernel import plan
    from papers.simd_kernel.run import histogram, profiling, workloads

    chosen = workloads.find(_names(args.workloads))
    with _kernel_options.progress() as say:
        built = uml.build(fragments=plan.STATS, source=args.kernel_source, say=say)
        programs = guest.build(say)
        whole_set = profiling.script(one.command(programs, args.scale) for one in chosen)
        callers, sizes = histogram.counted(built, whole_set, say)
    sites = histogram.of_image(callers, built.path / "linux")
    if args.json:
        _kernel_options.write_json(args.json, counted(sites, sizes))
    if args.json != "-":
        print("\n\n".join(histogram.render(sites, sizes, kind) for kind in histogram.KINDS))
    return 0


def counted(sites: Sequence[Site], sizes: Sequence[Size]) -> HistogramFile:
    from papers.simd_kernel.formats import CountedCaller, CountedSize, HistogramFile

    callers = [
        CountedCaller(
            address=f"{site.caller.address:x}",
            function=site.function,
            line=site.line,
            kind=site.caller.kind,
            calls=site.caller.calls,
            bytes=site.caller.bytes,
            classes=list(site.caller.classes),
        )
        for site in sites
    ]
    return HistogramFile(callers, [CountedSize(one.kind, one.size, one.calls) for one in sizes])


def render(records: Sequence[Record]) -> str:
    """Return, for all workloads, the functions of the first routine, then routine by {memcpy, kernel, wall or rate}."""
    from papers.simd_kernel import plan
    from papers.simd_kernel.run import profiling

    there = dict.fromkeys(record.variant for record in records)
    variants = sorted(there, key=lambda name: _place(name, plan.ROUTINES))
    lines: list[str] = []
    for name in dict.fromkeys(str(record.parameters["workload"]) for record in records):
        own = [record for record in records if record.parameters["workload"] == name]
        if name == profiling.ALL:
            lines += [*_functions(own, variants[0]), ""]
        lines += [*_routines(name, own, variants), ""]
    return "\n".join(lines[:-1])


def _functions(own: Sequence[Record], variant: str) -> list[str]:
    """Return a table as the paper's Table 2: medians of the boots."""
    found = [one for one in own if one.variant == variant]
    whole = sum(next(one.samples for one in found if one.metric == "kernel"))
    rows = sorted((one for one in found if one.metric == "function"), key=lambda one: -sum(one.samples))[:UNITS]
    lines = [
        f"{variant}: functions by gprof, {len(rows[0].samples)} boots",
        f"{'function':32} {'s/boot':>8} {'share':>6}",
    ]
    for one in rows:
        share = sum(one.samples) / whole if whole else 0.0
        lines.append(f"{one.parameters['function']!s:32} {median(one.samples):8.2f} {share:6.1%}")
    return lines


def _routines(name: str, own: Sequence[Record], variants: Sequence[str]) -> list[str]:
    """Return a line for each routine: memcpy's samples in all boots, medians by boot, share of the kernel's time."""
    from papers.simd_kernel.run import gprof

    rate = next((one for one in own if one.metric == "rate"), None)
    last = rate.unit if rate else "wall"
    lines = [
        f"{name}: seconds in a boot, medians (memcpy and kernel by gprof)" + (f", and {rate.unit}" if rate else ""),
        f"{'routine':8} {'samples':>8} {'memcpy':>8} {'share':>6} {'kernel':>8} {last:>8} {'boots':>6}",
    ]
    few = False
    for variant in variants:
        mine = {(one.metric, str(one.parameters.get("function", ""))): one for one in own if one.variant == variant}
        copy, whole = mine.get(("function", "memcpy")), mine.get(("kernel", ""))
        said = mine.get(("rate" if rate else "wall", ""))
        text = f"{variant:8}"
        if copy and whole:
            count = sum(copy.samples) * gprof.RATE_HZ
            few |= count < gprof.ENOUGH
            share = sum(copy.samples) / sum(whole.samples) if sum(whole.samples) else 0.0
            mark = "*" if count < gprof.ENOUGH else " "
            text += f" {count:7.0f}{mark} {median(copy.samples):8.2f} {share:6.1%} {median(whole.samples):8.2f}"
        else:
            text += f" {'-':>8} {'-':>8} {'-':>6} {'-':>8}"
        counted = said or whole or copy
        boots = len(counted.samples) if counted else 0
        lines.append(text + (_number(median(said.samples), bool(rate)) if said else f" {'-':>8}") + f" {boots:6}")
    if few:
        lines.append(f"* fewer than {gprof.ENOUGH} samples of memcpy in all: too few to compare")
    return lines


def _number(value: float, rate: bool) -> str:
    return f" {value:8.0f}" if rate else f" {value:8.2f}"


def _place(name: str, known: Sequence[str]) -> int:
    return known.index(name) if name in known else len(known)


def _names(text: str | None) -> list[str]:
    return [name for name in (text or "").split(",") if name]
