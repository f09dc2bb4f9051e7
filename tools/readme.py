# SPDX-License-Identifier: Apache-2.0
"""Fills the marked blocks of README.md and of docs/ and papers/ from records: `python tools/readme.py`.

A block is `<!-- records: PATH WHAT -->` … `<!-- end -->`; WHAT is `try` (what okosu try prints of that file) or `rows`
(one row of a table an arm: program, base, arm, ratio, interval, verdict; several PATHs are allowed), or, of what `okosu
reproduce` wrote, `published` (each number that the paper measured beside ours), `disputed` (those too that contradict
others) or `claims` (each promise beyond it). `engines` is a table of what clears, of any number of records of
zero-offload or of `okosu bench zero-engines`. `colouring` is what that of superpage-colouring
says, in sentences and tables. `cost` is what `okosu lab synth` prints, `mutation` the scores that the scheduling
hardware's dv/mutation.py records. A PATH that is not there yet is named as such. With --check nothing is written.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import median

from okosu.bench.rows import from_records
from okosu.cli import _table
from okosu.records import files
from okosu.report import commands, model
from okosu.trial.session import Session
from papers.scheduling_hardware import cost_table
from papers.superpage_colouring.report import findings

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- records: (?P<args>[^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def _session(path: str) -> Session:
    return Session.restore(files.read(ROOT / path), ROOT / path)


def _try(paths: list[str]) -> str:
    session = _session(paths[0])
    command = commands.again(model.load(session.envelope))
    shown = f"$ {command}\n{_table.render(session)}\n"
    if advice := _table.advice(session):
        shown += f"\n{advice}\n"
    return f"```text\n{shown}```\n"


def _rows(paths: list[str]) -> str:
    lines = [
        "| program | base | arm | t_arm / t_base | 95 % interval | rounds | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for path in paths:
        session = _session(path)
        name = Path(path).stem
        base = f"{session.plan.base_s:.3g} s"
        for v in session.envelope.verdicts:
            ratio = "" if v.ratio is None else f"{v.ratio:.3f}"
            interval = "" if v.interval is None else f"{v.interval[0]:.3f}–{v.interval[1]:.3f}"
            mark = " (recommended)" if v.headline else ""
            lines.append(f"| {name} | {base} | {v.arm} | {ratio} | {interval} | {v.rounds or ''} | {v.verdict}{mark} |")
            name = base = ""
    return "\n".join(lines) + "\n"


def _published(paths: list[str]) -> str:
    return _compared(paths[0], ("value",))


def _disputed(paths: list[str]) -> str:
    return _compared(paths[0], ("value", "disputed"))


def _number(value: float, digits: int = 3) -> str:
    # Targets that must be above 0 to be compared stand for none at all.
    if abs(value) < 1e-8:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def _compared(path: str, marks: tuple[str, ...]) -> str:
    lines = ["| paper | value | published | here |", "|---|---|---|---|"]
    for claim in files.read(ROOT / path).claims:
        if claim.kind == "published" and claim.mark in marks and claim.measured is not None:
            ours = f"{_number(claim.measured)} {claim.unit}".strip()
            said = " (disputed)" if claim.mark == "disputed" else ""
            lines.append(f"| {claim.source} | {claim.text}{said} | {_number(claim.target)} {claim.unit} | {ours} |")
    return "\n".join(lines) + "\n"


def _claims(paths: list[str]) -> str:
    lines = ["| promise | at the worst point | target | |", "|---|---|---|---|"]
    said = {True: "holds", False: "**missed**", None: "not judged"}
    for claim in files.read(ROOT / paths[0]).claims:
        if claim.kind != "published":
            # As many digits as the target has, or 1.004 would be told as 1.
            digits = max(3, len(f"{claim.target:g}".replace(".", "").lstrip("0")))
            ours = "" if claim.measured is None else _number(claim.measured, digits)
            unit = f" {claim.unit}" if claim.unit not in ("times", "share") else ""
            target = f"{claim.sign} {_number(claim.target, digits)}{unit} ({claim.kind})"
            lines.append(f"| {claim.text} | {ours} | {target} | {said[claim.holds]} |")
    return "\n".join(lines) + "\n"


def _engines(paths: list[str]) -> str:
    lines = [
        "| record | engine | device | block | asking | until clean | GB/s | processors, s a GiB | looked through |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    gone = []
    for path in paths:
        held = files.read(ROOT / path)
        rows = from_records(held.records).get("zero-engines", [])
        cost = {(row.variant, row.n, row.kernel): median(row.samples) for row in rows if row.samples}
        for row in rows:
            if row.kernel != "complete" or (row.variant, row.n, "processor") not in cost:
                continue
            clean, used = cost[row.variant, row.n, "complete"], cost[row.variant, row.n, "processor"]
            size = f"{row.n >> 30} GiB" if row.n >= 1 << 30 else f"{row.n >> 20} MiB"
            lines.append(
                f"| {Path(path).parent.name} | {row.variant} | {row.config} | {size} "
                f"| {_number(cost[row.variant, row.n, 'post'])} cycles | {clean / 1e3:,.0f} µs | {row.n / clean:.1f} "
                f"| {used / row.n * (1 << 30) / 1e9:.3f} | {row.extra.get('scanned', 0)} blocks |"
            )
        absent = held.plan.get("benches", {}).get("zero-engines", {}).get("absent", [])
        gone += [f"* {Path(path).parent.name} has no {one['variant']}: {one['why']}." for one in absent]
    return "\n".join([*lines, *([""] if gone else []), *gone]) + "\n"


def _colouring(paths: list[str]) -> str:
    return findings.markdown(files.read(ROOT / paths[0]))


def _cost(paths: list[str]) -> str:
    return "\n".join(cost_table.tables(json.loads((ROOT / paths[0]).read_text()))) + "\n"


def _mutation(paths: list[str]) -> str:
    held = json.loads((ROOT / paths[0]).read_text())
    lines = ["| file | found | of | | no program can tell |", "|---|---|---|---|---|"]
    for name, of in held["files"].items():
        told = of["found"] + of["left"]
        lines.append(f"| `{name}` | {of['found']} | {told} | {100 * of['found'] / told:.1f} % | {of['equivalent']} |")
    found, left, equal = (sum(of[key] for of in held["files"].values()) for key in ("found", "left", "equivalent"))
    share = 100 * found / (found + left)
    lines.append(f"| all | {found:,} | {found + left:,} | {share:.1f} % | {equal} |")
    return "\n".join(lines) + "\n"


WHATS = {
    "try": _try,
    "rows": _rows,
    "published": _published,
    "disputed": _disputed,
    "claims": _claims,
    "engines": _engines,
    "colouring": _colouring,
    "cost": _cost,
    "mutation": _mutation,
}


def fill(text: str) -> str:
    """Return the document with its blocks as the records have them."""

    def block(found: re.Match[str]) -> str:
        *paths, what = found["args"].split()
        there = [path for path in paths if (ROOT / path).is_file()]
        lacking = [f"`{path}`" for path in paths if path not in there]
        told = f"\nNot recorded yet: {', '.join(lacking)}.\n" if lacking else ""
        return found[1] + (WHATS[what](there) if there else "") + told + found[3]

    return BLOCK.sub(block, text)


def main() -> int:
    """Rewrite the documents, or with --check say which differ (exit 1)."""
    stale = []
    for path in [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted(ROOT.glob("papers/*/README.md")),
        *sorted(ROOT.glob("papers/*/doc/*.md")),
    ]:
        text = path.read_text()
        made = fill(text)
        if made != text:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(made)
    if stale and "--check" in sys.argv:
        print(f"okosu: {', '.join(stale)} differ from the records\n  fix: python tools/readme.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
