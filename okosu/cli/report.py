# SPDX-License-Identifier: Apache-2.0
"""okosu report: from record files to one self-contained HTML page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from okosu.errors import OkosuError, usage

NAME = "report"
PLACE = 6
HELP = "make one self-contained HTML page of record files, or of a folder of them by kind of machine"
EXAMPLES = """\
  okosu report trial.json                      writes trial.html beside it and prints its path
  okosu report monday.json tuesday.json -o week.html
  okosu report /shared/records                 verdicts by kind of machine; writes report.html there
  okosu report --summary trial.json -o small.json   verdicts, quantiles and a digest: what documents are made from
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="records of okosu try, bench or reproduce, or a folder"
    )
    parser.add_argument(
        "-o", "--output", metavar="OUT", help="the file to write (default: the first FILE with .html or .summary.json)"
    )
    parser.add_argument(
        "--summary",
        action="store_true",
        help="write a summary in place of a page: of one FILE, or of several trials of one program",
    )


def run(args: argparse.Namespace) -> int:
    """Write the page and print its path. OkosuError if a file cannot be read or the page cannot be written."""
    from okosu.records import files

    if args.command:
        raise usage(
            "okosu report runs no program", "it makes a page of record files", "okosu report FILE… [-o OUT.html]"
        )
    paths = [Path(name) for name in args.files]
    beside = paths[0] / "report.html" if paths[0].is_dir() else paths[0].with_suffix(".html")
    if args.summary:
        beside = paths[0].with_suffix(".summary.json")
    output = Path(args.output) if args.output else beside
    # Before anything is rendered; no folder is made for a typing error.
    if output.is_dir() or not output.parent.is_dir():
        why = "it is a folder" if output.is_dir() else f"there is no folder {output.parent}"
        raise usage(f"{output} not written", why, "a file in a folder that exists, after -o")
    data, read = _summary(paths) if args.summary else _page(paths)
    if output.resolve() in {path.resolve() for path in read}:
        raise OkosuError(f"{output} is one of the record files", "it would be replaced", "another name after -o")
    files.put(output, data, "another place after -o")
    print(output)
    return 0


def _page(paths: list[Path]) -> tuple[bytes, list[Path]]:
    """The page of the files and of those in the folders, and what was read for it."""
    from okosu.records import files
    from okosu.report import kinds, page

    held: list[tuple[Path, files.File]] = [(path, files.read(path)) for path in paths if not path.is_dir()]
    by_kind = None
    if folders := [path for path in paths if path.is_dir()]:
        from okosu.cli import _kinds
        from okosu.cluster import collect

        gathered = collect.gather(folders)
        held += [(one.path, one.file) for one in gathered.found]
        by_kind = kinds.view(collect.collected(gathered))
        print(_kinds.render(by_kind), file=sys.stderr)
    return page.render(held, by_kind).encode(), [path for path, _ in held]


def _summary(paths: list[Path]) -> tuple[bytes, list[Path]]:
    from okosu.cli import _summary
    from okosu.records import files

    return files.laid_out(_summary.make(paths)), paths
