# SPDX-License-Identifier: Apache-2.0
"""okosu lab series: the patch series, and their mails to the kernel's maintainers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lab.cli import _kernel_options
from lab.kernel import base as bases

if TYPE_CHECKING:
    from lab.kernel.source import Source

NAME = "series"
PLACE = 8
HELP = "list the patch series, or write one as mails in your name"
EXAMPLES = """\
  okosu lab series                                                which series there are, and on which Linux
  okosu lab series hugetlb-prezero --base 7.3 --format mails      its mails, signed off by who git says you are
  okosu lab series page-colour --format mails --kernel-source ~/linux   on a tree of git's: with its base-commit
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("name", metavar="NAME", nargs="?", help="one series; without it all are listed")
    add("--format", type=Path, metavar="DIR", help="write the mails of NAME into DIR")
    add("--reroll", type=int, default=0, metavar="N", help="the version of the series (default: what its letter says)")
    add("--base", default=bases.DEFAULT, metavar="VERSION", help="the Linux that NAME is for (default: %(default)s)")
    add("--kernel-source", type=Path, metavar="DIR", help="another kernel tree instead of Debian's")
    add("--json", metavar="FILE|-", help="write what was listed or written as JSON; -: to stdout")
    add("--dry-run", action="store_true", help="print what would be written, and write nothing")


def run(args: argparse.Namespace) -> int:
    """List the series, or write the mails of one: 0, or 1 where checkpatch.pl remarks what nobody answered."""
    from okosu.errors import USAGE_ERROR, OkosuError

    bases.find(args.base)
    if bool(args.name) != bool(args.format):
        raise OkosuError("--format DIR and NAME go together", "", "okosu lab series NAME --format DIR", USAGE_ERROR)
    return _write(args) if args.name else _list(args)


def _list(args: argparse.Namespace) -> int:
    from lab.formats import ListedSeries, SeriesFile
    from lab.kernel import series

    found = [ListedSeries(one.name, one.base, len(one.patches)) for one in series.on_every_base()]
    if args.json:
        _kernel_options.write_json(args.json, SeriesFile(found))
    if args.json != "-":
        for one in found:
            print(f"{one.name:20} {one.base:6} {one.patches:3} patch{'es' if one.patches > 1 else ''}")
    return 0


def _write(args: argparse.Namespace) -> int:
    from lab.formats import MailsFile
    from lab.kernel import mails, series, source

    of, by = series.find(args.name, args.base), mails.author()
    if args.dry_run:
        said = mails.letter(of)
        version = args.reroll or said.version
        print(f"by: {by}\nseries: {of.name} v{version}, {len(of.patches)} patches for Linux {of.base}")
        print(f"letter: {said.subject}\nwritten to: {args.format}")
        return 0
    with _kernel_options.progress() as say:
        on = source.find(args.kernel_source, say, args.base)
        written = mails.write(of, on, args.format, by, args.reroll, say)
    known = mails.answers(of)
    unanswered = [remark for remark in mails.remarks(written, on) if remark.kind not in known]
    if args.json:
        names = [str(path) for path in written]
        base = mails.base_commit(on, of)
        _kernel_options.write_json(args.json, MailsFile(of.name, of.base, str(by), base, names))
    if args.json != "-":
        print("\n".join(map(str, written)))
    _say_base(on, mails.base_commit(on, of))
    for remark in unanswered:
        print(f"okosu: {remark.mail}: {remark.kind}: {remark.text}", file=sys.stderr)
    return 1 if unanswered else 0


def _say_base(on: Source, commit: str) -> None:
    if not commit:
        print(f"okosu: the letter has no base-commit: {on.path} is no tree of git's", file=sys.stderr)
        print("  fix: --kernel-source DIR with one, at the release that the series is for", file=sys.stderr)
