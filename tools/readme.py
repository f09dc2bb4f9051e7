# SPDX-License-Identifier: Apache-2.0
"""Fills README.md, docs/*.md and papers/*/README.md from the summaries in results/: `python tools/readme.py`.

A block is `<!-- records: PATH… WHAT -->` … `<!-- end -->`. A PATH is that of a summary from the root, or
the name of the only summary results/*/NAME.json, or FOLDER/PATTERN for all that match. WHAT is one of:

    try                 what `okosu try` printed, with its command
    rows                a row of one table for each arm: program, base, ratio, interval, verdict
    gallery             a row for each program of the gallery, and what its recommendations come to together
    gallery=N           only the N programs that gain most, and the same sum over all of them
    published           each value that the paper measured, beside ours, a column for each of several summaries;
                        `disputed`: those too that contradict others
    targets             each target with its worst point
    beside              the targets of several summaries beside each other, a column for each with its intervals
    missed              the names of the targets that do not hold
    sections=ID,…       those sections of the summary (all of them without `=ID,…`)
    joined=ID           the tables of that section in several summaries as one, with a column that names the machine
    changed=ID,N        the table of that section in two summaries as one, with `before → now` in a cell that differs; a
                        row is known by its first N cells (1 without `,N`), a column by its head
    calls=PEER,ARM,…    of `okosu bench`: a row for each point, with the cycles of a call of PEER and, for each ARM,
                        its speed over PEER's, by the medians

`<!-- picture: PATH -->` before an image `![…](FILE.svg)` has the trial's verdicts drawn into FILE.svg; with a pattern,
what is recommended in each trial that matches.

Within a sentence, `<!-- figure: PATH ID.FIELD FORMAT -->TEXT<!-- end -->` holds one number: of the verdict or
comparison ID one of its fields or `low`, `high` (the interval's ends), `faster` (1 / ratio); FORMAT as `.2f`.
In its place,
`targets.held`, `targets.missed` or `targets.count` is a number of targets.

With --check nothing is written; the documents that differ are named (exit status 1). A summary that is not there is
named in the block.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import geometric_mean

from okosu.records import summary
from okosu.records.summary import Summary, table
from okosu.records.types import Compared, Verdict
from okosu.report import charts, formats, view, words
from okosu.report.charts import Estimate
from okosu.report.words import Words
from okosu.trial.verdicts import MAY_BE_LESS

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tools/gallery/programs.toml"
STYLE = ROOT / "okosu/report/report.css"
BLOCK = re.compile(r"(<!-- records: (?P<args>[^>]*?) -->\n).*?(<!-- end -->)", re.DOTALL)
PICTURE = re.compile(r"<!-- picture: (?P<name>\S+) -->\n!\[[^]]*\]\((?P<file>[^)]+\.svg)\)")
FIGURE = re.compile(r"(<!-- figure: (?P<args>[^>]*?) -->)[^<]*(<!-- end -->)")

Named = tuple[Path, Summary]


def find(name: str) -> Path:
    """Return the path of a summary; one that does not exist where there is none of this name, or several."""
    if "/" in name:
        return ROOT / name
    found = sorted((ROOT / "results").glob(f"*/{name}.json"))
    return found[0] if len(found) == 1 else ROOT / "results" / name


def _words(made: Summary) -> Words:
    return words.words(str(made.plan["metric"]), str(made.plan.get("better", "lower")))


def _try(held: Sequence[Named]) -> str:
    _, made = held[0]
    return f"```text\n$ {made.command}\n{made.printed}\n```\n"


def _rows(held: Sequence[Named]) -> str:
    head = ["program", "base", "arm", "change", "interval", "rounds won", "verdict"]
    body = []
    for path, made in held:
        name, base = path.stem, f"{made.plan['base_s']:.3g} s"
        for v in made.verdicts:
            row = view.row(v, _words(made))
            said = f"{row.verdict} (recommended)" if row.headline else row.verdict
            cells = [row.change, row.interval, row.won]
            body.append([name, base, row.arm, *map(formats.plain, cells), said])
            name = base = ""
    return "\n".join(table(head, body)) + "\n"


def _recommended(made: Summary) -> Verdict | None:
    return next((v for v in made.verdicts if v.headline and v.ratio), None)


def _gain(made: Summary) -> float:
    """The time with what okosu recommends, as a share of base's; 1 where it recommends nothing."""
    best = _recommended(made)
    return best.ratio if best and best.ratio else 1.0


def _gain_accepted(made: Summary) -> float:
    """The least share of base's time that any arm takes, whatever else it changes; the output was base's."""
    return min((v.ratio for v in made.verdicts if v.verdict == "FASTER" and v.ratio), default=1.0)


def _apart(made: Summary) -> Verdict | None:
    """The fastest of what is faster and changes more than the time, where nothing is recommended."""
    faster = [
        v
        for v in made.verdicts
        if v.verdict == "FASTER" and v.ratio and not _recommended(made) and not v.why.startswith(MAY_BE_LESS)
    ]
    return min(faster, key=lambda v: v.ratio or 1.0, default=None)


def _by_gain(held: Sequence[Named]) -> list[Named]:
    """What is recommended first, then what would have to be accepted, then the programs that nothing helps."""

    def place(one: Named) -> tuple[bool, float, float]:
        apart = _apart(one[1])
        return not _recommended(one[1]), _gain(one[1]), apart.ratio or 1.0 if apart else 1.0

    return sorted(held, key=place)


def _name(path: Path) -> str:
    return path.stem.removeprefix("gallery-")


def _again(path: Path, made: Summary) -> Verdict | None:
    """What a second trial, of other rounds and seeds, found of what the first recommends; None where there was none."""
    second, best = path.with_name(path.name.replace("gallery-", "again-", 1)), _recommended(made)
    if best is None or not second.is_file():
        return None
    return next((v for v in summary.read(second).verdicts if v.arm == best.arm), None)


def _told_again(verdict: Verdict | None, said: Words) -> str:
    if verdict is None or not verdict.ratio:
        return "" if verdict is None else verdict.verdict
    told = formats.plain(said.change(verdict.ratio))
    return told if verdict.verdict == "FASTER" else f"{told}: {verdict.verdict}"


def _gallery(held: Sequence[Named], most: str = "") -> str:
    more = ["base in the pilot", "slower", "minutes", "results/"]
    head = ["program", "what it does", "okosu recommends"]
    head += ["faster too"] if most else ["tried again", "faster too", *more]
    about = {one["name"]: one["about"] for one in tomllib.loads(PROGRAMS.read_text())["program"]}
    body = []
    for path, made in _by_gain(held)[: int(most) if most else None]:
        said, best = _words(made), _recommended(made)
        others = [v for v in made.verdicts if v is not best and v.arm != "placebo"]
        told = {
            kind: "; ".join(
                f"`{v.arm}` {formats.plain(said.change(v.ratio))}" for v in others if v.verdict == kind and v.ratio
            )
            for kind in ("FASTER", "SLOWER")
        }
        found = f"`{best.arm}`: {formats.plain(view.outcome(best, said))}" if best else "nothing"
        minutes = f"{float(made.plan['spent_s']) / 60:.1f}"
        row = [_name(path), about.get(_name(path), ""), found]
        row += [told["FASTER"]] if most else [_told_again(_again(path, made), said), told["FASTER"]]
        body.append(row if most else [*row, f"{made.plan['base_s']:.3g} s", told["SLOWER"], minutes, path.parent.name])
    ratios = [_gain(made) for _, made in held]
    accepted = [_gain_accepted(made) for _, made in held]
    mean, most_mean = (
        formats.plain(words.words("wall", "lower").change(geometric_mean(r))) for r in (ratios, accepted)
    )
    enough = 1 / 1.1
    won = sum(ratio <= enough for ratio in ratios)
    apart = sum(ratio <= enough for ratio in accepted) - won
    with_them = f", and {apart} more where a change beside the time is accepted" if apart else ""
    total = f"{won} of {len(ratios)} are faster by 10 % or more{with_them}"
    over = f"the geometric mean over all of them, with what okosu recommends: {mean}"
    over += f"; with each such change accepted: {most_mean}" if apart else ""
    seconds = [v.verdict for v in (_again(*one) for one in held) if v is not None]
    once_more = f"\n{len(seconds)} recommendations were tried again with other seeds: " if seconds else ""
    once_more += ", ".join(f"{seconds.count(kind)} {kind}" for kind in sorted(set(seconds))) + ("." if seconds else "")
    return "\n".join(table(head, body)) + f"\n\n{total}; {over}.{once_more}\n"


def _published(held: Sequence[Named]) -> str:
    return _beside(held, ("value",))


def _disputed(held: Sequence[Named]) -> str:
    return _beside(held, ("value", "disputed"))


def _number(value: float, digits: int = 3) -> str:
    # Bounds of 1e-9 and the like stand for "more than none".
    if abs(value) < 1e-8:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def _beside(held: Sequence[Named], marks: tuple[str, ...]) -> str:
    """What the paper printed, and a column for each record of what was measured; "here" where there is only one."""
    known: dict[str, list[Compared | None]] = {}
    for column, (_, made) in enumerate(held):
        for one in made.compared:
            if one.kind == "published" and one.mark in marks and one.measured is not None:
                known.setdefault(one.id, [None] * len(held))[column] = one
    body = []
    for found in known.values():
        first = next(one for one in found if one)
        said = " (disputed)" if first.mark == "disputed" else ""
        cells = ["–" if one is None else f"{_number(one.measured or 0.0)} {one.unit}".strip() for one in found]
        body.append([first.source, first.text + said, f"{_number(first.target)} {first.unit}", *cells])
    columns = _columns(held) if len(held) > 1 else ["here"]
    return "\n".join(table(["paper", "value", "published", *columns], body)) + "\n"


def _columns(held: Sequence[Named]) -> list[str]:
    """Return a name for each record: its folder, and what its own name has more than the shortest one's: "-avx2"."""
    shortest = min(len(path.stem) for path, _ in held)
    return [f"{path.parent.name} {path.stem[shortest:].lstrip('-')}".rstrip() for path, _ in held]


SAID = {True: "holds", False: "**missed**", None: "not judged"}


def _digits(one: Compared) -> int:
    """As many digits as the bound has, or 1.004 would be told as 1."""
    return max(3, len(f"{one.target:g}".replace(".", "").lstrip("0")))


def _bound(one: Compared) -> str:
    unit = f" {one.unit}" if one.unit not in ("", "times", "share") else ""
    return f"{one.sign} {_number(one.target, _digits(one))}{unit} ({one.kind})"


def _targets(held: Sequence[Named]) -> str:
    body = []
    for one in held[0][1].compared:
        if one.kind != "published":
            ours = "" if one.measured is None else _number(one.measured, _digits(one))
            body.append([one.text, ours, _bound(one), SAID[one.holds]])
    return "\n".join(table(["target", "at the worst point", "bound", ""], body)) + "\n"


def _by_record(held: Sequence[Named]) -> str:
    """A target that a record was made without has no cell in its column, and so has one whose bound was another."""
    known: dict[tuple[str, str], dict[str, Compared]] = {}
    held = sorted(held, key=lambda one: (one[0].parent.name, len(one[0].stem)))
    columns = _columns(held)
    for column, (_, made) in zip(columns, held, strict=True):
        for one in made.compared:
            if one.kind != "published":
                known.setdefault((one.text, _bound(one)), {})[column] = one
    body = [
        [text, bound, *(_cell(by[column]) if column in by else "–" for column in columns)]
        for (text, bound), by in known.items()
    ]
    return "\n".join(table(["target, at its worst point", "bound", *columns], body)) + "\n"


def _cell(one: Compared) -> str:
    if one.measured is None:
        return SAID[one.holds]
    digits = _digits(one)
    ends = [_number(end, digits) for end in one.interval or ()]
    # An exact number has no interval around it.
    between = f" ({ends[0]} to {ends[1]})" if len(set(ends)) > 1 else ""
    return f"{_number(one.measured, digits)}{between} {SAID[one.holds]}"


def _sections(held: Sequence[Named], *ids: str) -> str:
    made = held[0][1].sections
    by_id = {section.id: section for section in made}
    chosen = [by_id[one] for one in ids] if ids else made
    texts = []
    for section in chosen:
        # The title is the first words of the prose, or a line of its own.
        title = f"{section.title}. " if section.title and section.about else f"{section.title}.\n\n"
        texts.append((title if section.title else "") + summary.markdown(section))
    return "\n".join(texts)


def _joined(held: Sequence[Named], wanted: str) -> str:
    head: list[str] = []
    body, notes = [], []
    for path, made in held:
        for section in made.sections:
            if section.id == wanted:
                head = ["record", *section.head]
                body += [[path.parent.name, *row] for row in section.body]
                notes += [f"* {path.parent.name} {note}" for note in section.notes]
    return "\n".join([*table(head, body), *([""] if notes else []), *notes]) + "\n"


def _changed(held: Sequence[Named], wanted: str, known_by: str = "1") -> str:
    """What only one of the two summaries has stands beside a dash."""
    keys = int(known_by)
    # Where one of them is not recorded yet, the table is the other's.
    before, now = (
        next(section for section in made.sections if section.id == wanted) for _, made in (held[0], held[-1])
    )
    head = list(dict.fromkeys([*now.head, *before.head]))
    cells = [
        {tuple(row[:keys]): dict(zip(section.head, row, strict=True)) for row in section.body}
        for section in (before, now)
    ]
    body = []
    for key in dict.fromkeys([*cells[1], *cells[0]]):
        old, new = (of.get(key, {}) for of in cells)
        body.append([*key, *(_from_to(old.get(name, ""), new.get(name, "")) for name in head[keys:])])
    return "\n".join(table(head, body)) + "\n"


def _from_to(old: str, new: str) -> str:
    return new if old == new else f"{old or '–'} → {new or '–'}"


def _calls(held: Sequence[Named], peer: str, *arms: str) -> str:
    shortest = min(len(path.stem) for path, _ in held)
    body = []
    for path, made in held:
        points: dict[tuple[str, str], dict[str, float]] = {}
        for row in made.rows:
            points.setdefault((row.subject, str(row.parameters["mode"])), {})[row.arm] = row.samples.median
        for (subject, mode), median in points.items():
            cells = [f"{median[peer] / median[arm]:.2f}" if arm in median else "–" for arm in arms]
            kind = path.stem[shortest:].lstrip("-") or "all"
            body.append([kind, f"{subject}, {mode}", _number(median[peer]), *cells])
    return "\n".join(table(["instructions", "calls", f"{peer}, cycles", *arms], body)) + "\n"


WHATS: dict[str, Callable[..., str]] = {
    "try": _try,
    "rows": _rows,
    "gallery": _gallery,
    "published": _published,
    "disputed": _disputed,
    "targets": _targets,
    "beside": _by_record,
    "sections": _sections,
    "joined": _joined,
    "changed": _changed,
    "calls": _calls,
}


def drawn(made: Summary) -> str:
    """Return the trial's verdicts as an SVG file: a ratio with its interval for each arm."""
    tones = {"FASTER": "good", "SLOWER": "bad"}
    rows = [
        Estimate(v.arm, v.ratio, v.interval, tones.get(v.verdict, "muted"), v.headline)
        for v in made.verdicts
        if v.ratio is not None
    ]
    return _svg(rows, made)


def drawn_together(held: Sequence[Named]) -> str:
    """Return an SVG file with a row for each trial: what it recommends, else what would have to be accepted, else 1."""
    rows = []
    for path, made in _by_gain(held):
        best = _recommended(made) or _apart(made)
        if best and best.ratio:
            rows.append(Estimate(f"{_name(path)}: {best.arm}", best.ratio, best.interval, "good", best.headline))
        else:
            rows.append(Estimate(f"{_name(path)}: nothing", 1.0, None, "muted", False))
    return _svg(rows, held[0][1])


def _svg(rows: list[Estimate], made: Summary) -> str:
    svg = charts.forest(rows, float(made.plan["min_effect"]), _words(made), "forest", charts.WIDE)
    # Alone in a file it has no page to take its colours and font from.
    light, _, dark = STYLE.read_text().partition("@media (prefers-color-scheme: dark)")
    dark = dark.partition("@media")[0]
    style = f"<style>{light}@media (prefers-color-scheme: dark){dark}svg {{ font-family: sans-serif; }}</style>"
    ground = '<rect width="100%" height="100%" fill="var(--paper)"/>'
    return svg.replace(">\n", f">\n{style}\n{ground}\n", 1) + "\n"


def in_words(svg: str) -> str:
    """Return what a picture says in words, its ratios and intervals: coordinates change with matplotlib's version."""
    found = re.search(r'aria-label="([^"]*)"', svg)
    return found[1] if found else ""


def pictures() -> dict[Path, str]:
    """Return the pictures that documents show, by their paths."""
    found = {}
    for document in documents():
        for match in PICTURE.finditer(document.read_text()):
            name, file = match["name"], document.parent / match["file"]
            if "*" not in name:
                found[file] = drawn(summary.read(find(name)))
            elif held := [(path, summary.read(path)) for path in sorted(ROOT.glob(name))]:
                found[file] = drawn_together(held)
    return found


def _field(made: Summary, name: str, spec: str) -> str:
    ident, _, field = name.rpartition(".")
    if ident == "targets":
        said = [one.holds for one in made.compared if one.kind != "published"]
        return str({"count": len(said), "held": said.count(True), "missed": said.count(False)}[field])
    by_id: dict[str, Verdict | Compared] = {v.arm: v for v in made.verdicts}
    by_id |= {one.id: one for one in made.compared}
    one = by_id[ident]
    if field in ("low", "high"):
        assert one.interval is not None, name
        value = one.interval[field == "high"]
    elif field == "faster":
        assert isinstance(one, Verdict), name
        assert one.ratio is not None, name
        value = 1 / one.ratio
    else:
        value = getattr(one, field)
    return format(value, spec)


def fill(text: str) -> str:
    """Return the document with its blocks and figures as the summaries have them."""

    def block(found: re.Match[str]) -> str:
        *names, what = found["args"].split()
        patterns = [name for name in names if "*" in name]
        names = [name for name in names if name not in patterns]
        names += [str(path.relative_to(ROOT)) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
        paths = [find(name) for name in names]
        held = [(path, summary.read(path)) for path in paths if path.is_file()]
        lacking = [f"`{name}`" for name, path in zip(names, paths, strict=True) if not path.is_file()]
        lacking += [f"`{pattern}`" for pattern in patterns if not names]
        told = f"\nNot recorded yet: {', '.join(lacking)}.\n" if lacking else ""
        kind, _, options = what.partition("=")
        made = WHATS[kind](held, *(options.split(",") if options else [])) if held else ""
        return found[1] + made + told + found[3]

    def figure(found: re.Match[str]) -> str:
        name, field, *spec = found["args"].split()
        return found[1] + _field(summary.read(find(name)), field, spec[0] if spec else ".3g") + found[3]

    return FIGURE.sub(figure, BLOCK.sub(block, text))


def documents() -> list[Path]:
    """Return the documents that may have blocks."""
    globs = ("README.md", "docs/*.md", "lab/README.md", "papers/*/README.md", "papers/*/doc/*.md", "results/README.md")
    return [path for pattern in globs for path in sorted(ROOT.glob(pattern))]


def main() -> int:
    """Rewrite the documents, or with --check say which differ (exit 1)."""
    stale = []
    for path in documents():
        text = path.read_text()
        made = fill(text)
        if made != text:
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in sys.argv:
                path.write_text(made)
    for path, made in pictures().items():
        if not path.is_file() or in_words(path.read_text()) != in_words(made):
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in sys.argv:
                path.write_text(made)
    if stale and "--check" in sys.argv:
        print(f"okosu: {', '.join(stale)} differ from the records\n  fix: python tools/readme.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
