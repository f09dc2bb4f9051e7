# SPDX-License-Identifier: Apache-2.0
"""The other views of `okosu lab profile`: the histogram of callers and sizes, perf record, UnixBench's programs."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lab import guest, uml
from lab.cli import _kernel_options
from okosu.errors import OkosuError
from papers.simd_kernel import gprof, histogram, perf, profile, symbols, unixbench
from papers.simd_kernel.gprof import Table
from papers.simd_kernel.workloads import Workload


def run(args: argparse.Namespace, chosen: Sequence[Workload]) -> int:
    """Show what was asked for: 0, or an OkosuError."""
    if args.histogram:
        return _histogram(args, chosen)
    if args.perf:
        return _perf(args, chosen)
    return _unixbench(args)


def _routine(args: argparse.Namespace) -> str:
    return str(args.variants).split(",")[0] or "orig"


def _histogram(args: argparse.Namespace, chosen: Sequence[Workload]) -> int:
    with _kernel_options.progress() as say:
        built = profile.built_for_histogram(say, args.kernel_source)
        programs = guest.build(say)
        commands = [one.command(programs, args.scale) for one in chosen]
        set_ = profile.script(commands)
        outcome = uml.run(built, ["sh", "-c", histogram.SCRIPT, "sh", *set_], timeout=profile.TIMEOUT_S, say=say)
    if outcome.status:
        raise OkosuError(
            f"the histogram was not taken: status {outcome.status}",
            outcome.stderr.decode(errors="replace").strip() or "124: no um_copy/callers, the kernel does not count",
        )
    callers = histogram.parse_callers(outcome.files["callers"].read_text())
    sizes = histogram.parse_sizes(outcome.files["sizes"].read_text())
    sites = histogram.of_image(callers, built.path / "linux")
    if args.json:
        listed = [
            {
                "address": f"{site.caller.address:x}",
                "function": site.function,
                "line": site.line,
                "kind": site.caller.kind,
                "calls": site.caller.calls,
                "bytes": site.caller.bytes,
                "classes": list(site.caller.classes),
            }
            for site in sites
        ]
        exact = [{"kind": one.kind, "size": one.size, "calls": one.calls} for one in sizes]
        _kernel_options.write_json(args.json, {"schema": "okosu.lab-histogram/1", "callers": listed, "sizes": exact})
    if args.json != "-":
        print("\n\n".join(histogram.render(sites, sizes, kind) for kind in histogram.KINDS))
    return 0


def _perf(args: argparse.Namespace, chosen: Sequence[Workload]) -> int:
    if why := perf.why_not():
        raise OkosuError(
            "perf record does not work here", why, "sysctl kernel.perf_event_paranoid=2, or without --perf"
        )
    with _kernel_options.progress() as say, tempfile.TemporaryDirectory(prefix="okosu-perf-") as scratch:
        built = uml.build(fragments=profile.FRAGMENTS, source=args.kernel_source, say=say)
        programs = guest.build(say)
        folder = Path(scratch)
        image = built.path / "linux"
        perf.wrap(image, folder)
        command = profile.script(one.command(programs, args.scale) for one in chosen)
        outcome = profile.booting(replace(built, path=folder), say)(command, _routine(args))
        if outcome.status:
            raise OkosuError(f"the workloads failed, status {outcome.status}", outcome.stderr.decode(errors="replace"))
        seen = perf.read(folder / perf.DATA, image.name, profile.group)
        counted = gprof.parse(outcome.files["gmon.out"].read_bytes())
        table = gprof.table(counted.bins, symbols.of_image(image), profile.group, counted.rate)
    print(render(table, f"{_routine(args)}: gprof"))
    print()
    print(render(seen, f"{_routine(args)}: perf record -e {perf.EVENT}, libc and system calls included"))
    return 0


def _unixbench(args: argparse.Namespace) -> int:
    folder = unixbench.check(args.unixbench)
    with _kernel_options.progress() as say:
        built = uml.build(fragments=profile.FRAGMENTS, source=args.kernel_source, say=say)
        image = symbols.of_image(built.path / "linux")
        boot = profile.booting(built, say)
        found = unixbench.run(folder, lambda command: boot(command, _routine(args)), args.scale)
    profiles = [gprof.parse(outcome.files["gmon.out"].read_bytes()) for _, _, outcome in found]
    for name, rate, _ in found:
        print(f"{name:14} {rate.value:14.1f} {rate.unit}")
    bins = gprof.total(one.bins for one in profiles)
    print()
    print(render(gprof.table(bins, image, profile.group, profiles[0].rate), f"{_routine(args)}: gprof, all tests"))
    return 0


def render(table: Table, head: str, count: int = 20) -> str:
    """Return a profile as text, as in Tables 2 and 3 of the paper."""
    lines = [f"{head}: {table.seconds:.2f} s, {table.samples:.0f} samples"]
    lines.append(f"{'function':40} {'seconds':>9} {'share':>7}")
    lines += [f"{row.function[:40]:40} {row.seconds:9.2f} {row.share:7.2%}" for row in table.rows[:count]]
    return "\n".join(lines)
