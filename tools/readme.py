# SPDX-License-Identifier: Apache-2.0
"""Fills the marked blocks of README.md and docs/*.md from committed records: `python tools/readme.py [--check]`.

A block is `<!-- records: PATH WHAT -->` … `<!-- end -->`; WHAT is `try` (what okosu try prints of that file) or `rows`
(one row of a table an arm: program, base, arm, ratio, interval, verdict; several PATHs are allowed), or, of what `okosu
reproduce` wrote, `published` (each number that the paper measured beside ours) or `claims` (each promise beyond it).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from okosu.cli import _table  # noqa: E402  (the checkout is only now on the path)
from okosu.records import files  # noqa: E402
from okosu.report import commands, model  # noqa: E402
from okosu.trial.session import Session  # noqa: E402

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
    lines = ["| paper | value | published | here |", "|---|---|---|---|"]
    for claim in files.read(ROOT / paths[0]).claims:
        if claim.kind == "published" and claim.mark == "value" and claim.measured is not None:
            ours = f"{claim.measured:.3g} {claim.unit}".strip()
            lines.append(f"| {claim.source} | {claim.text} | {claim.target:.3g} {claim.unit} | {ours} |")
    return "\n".join(lines) + "\n"


def _claims(paths: list[str]) -> str:
    lines = ["| promise | at the worst point | target | |", "|---|---|---|---|"]
    said = {True: "holds", False: "**missed**", None: "not judged"}
    for claim in files.read(ROOT / paths[0]).claims:
        if claim.kind != "published":
            ours = "" if claim.measured is None else f"{claim.measured:.3g}"
            unit = f" {claim.unit}" if claim.unit not in ("times", "share") else ""
            target = f"{claim.sign} {claim.target:.3g}{unit} ({claim.kind})"
            lines.append(f"| {claim.text} | {ours} | {target} | {said[claim.holds]} |")
    return "\n".join(lines) + "\n"


WHATS = {"try": _try, "rows": _rows, "published": _published, "claims": _claims}


def fill(text: str) -> str:
    """Return the document with its blocks as the records have them."""

    def block(found: re.Match[str]) -> str:
        *paths, what = found["args"].split()
        return found[1] + WHATS[what](paths) + found[3]

    return BLOCK.sub(block, text)


def main() -> int:
    """Rewrite the documents, or with --check say which differ (exit 1)."""
    stale = []
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
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
