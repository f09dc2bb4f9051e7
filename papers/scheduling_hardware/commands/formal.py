# SPDX-License-Identifier: Apache-2.0
"""okosu lab formal: proofs of the RTL of the machine with scheduling hardware, and the bugs that they must find."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.cli import _kernel_options
from okosu.errors import TOOL_ERROR
from papers.scheduling_hardware.formats import BugRecord, FormalFile, ProofRecord

if TYPE_CHECKING:
    from papers.scheduling_hardware.proving import Planted, Result

NAME = "formal"
PLACE = 30
HELP = "prove properties of the RTL with scheduling hardware: arbiter, queue, buffer, memory bus, Wishbone, watches"
EXAMPLES = """\
  okosu lab formal                       every proof (minutes)
  okosu lab formal watch_unit fifo:deep4 these: a proof with all its tasks, or one task
  okosu lab formal --bugs                plant each bug of formal/bugs.toml: its proof must fail
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME[:TASK]", help="of the proofs (default: all; --dry-run lists them)")
    add("--bugs", action="store_true", help="plant the bugs that the proofs must find, instead")
    add("--json", metavar="FILE|-", help="write the record as JSON; -: to stdout")
    add("--dry-run", action="store_true", help="print what would be proved, and prove nothing")


def run(args: argparse.Namespace) -> int:
    """Prove, and print a line for each proof: 0, or 1 where one does not hold (or a bug was not found)."""
    from papers.scheduling_hardware import proving

    proofs = proving.find(args.names)
    if args.dry_run:
        for name in dict.fromkeys(proof.name for proof in proofs):
            own = [proof for proof in proofs if proof.name == name]
            print(f"{name}: {own[0].says}")
            for proof in own:
                print(f"  {proof.task:10} {proof.parameters}: {', '.join(proof.properties)}; {proof.method}")
        return 0
    file = FormalFile(proving.tools())
    show = args.json != "-"
    bad = False
    with _kernel_options.progress() as say:
        if args.bugs:
            known = {(proof.name, proof.task) for proof in proofs}
            wanted = [planted for planted in proving.bugs() if (planted.proof, planted.task) in known]
            found = [(planted, proving.plant(planted, say)) for planted in wanted]
            bad = any(result.verdict != "FAIL" for _, result in found)
            file.bugs = [_bug_record(planted, result) for planted, result in found]
        else:
            results = [proving.prove(proof, say=say) for proof in proofs]
            bad = any(result.verdict != "PASS" for result in results)
            file.proofs = [_record(result) for result in results]
    if args.json:
        _kernel_options.write_json(args.json, file)
    if show:
        print("\n".join(_bug_table(found) if args.bugs else _table(results)))
    return TOOL_ERROR if bad else 0


def _record(result: Result) -> ProofRecord:
    proof = result.proof
    return ProofRecord(
        name=proof.name,
        task=proof.task,
        parameters=proof.parameters,
        says=proof.says,
        method=proof.method,
        depth="unbounded",
        properties=list(proof.properties),
        frames=result.frames,
        seconds=round(result.seconds, 2),
        verdict=result.verdict,
        failed=result.failed,
        step=result.step,
        said=result.said,
    )


def _bug_record(planted: Planted, result: Result) -> BugRecord:
    return BugRecord(
        proof=planted.proof,
        task=planted.task,
        says=planted.bug.says,
        found=result.verdict == "FAIL",
        failed=result.failed,
        step=result.step,
        seconds=round(result.seconds, 2),
    )


def _table(results: Sequence[Result]) -> list[str]:
    lines = [f"{'proof':14} {'task':9} {'properties':>10}  {'method':24} {'depth':9} {'seconds':>8}  verdict"]
    for result in results:
        proof = result.proof
        broken = f" {result.failed} breaks in cycle {result.step}" if result.failed else ""
        lines.append(
            f"{proof.name:14} {proof.task:9} {len(proof.properties):10}  {proof.method:24} {'unbounded':9} "
            f"{result.seconds:8.1f}  {result.verdict}{broken} {result.said}".rstrip()
        )
    return lines


def _bug_table(found: Sequence[tuple[Planted, Result]]) -> list[str]:
    lines = [f"{'proof':14} {'seconds':>8}  {'found by':42} bug"]
    for planted, result in found:
        if result.verdict == "FAIL":
            by = f"{result.failed}, cycle {result.step}" if result.failed else "the induction's step"
        else:
            by = f"NOT FOUND ({result.verdict})"
        lines.append(f"{planted.proof:14} {result.seconds:8.1f}  {by:42} {planted.bug.says}")
    return lines
