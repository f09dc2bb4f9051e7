# SPDX-License-Identifier: Apache-2.0
"""okosu report: from record files to one self-contained HTML page."""

from __future__ import annotations

import argparse
from pathlib import Path

from okosu.errors import USAGE_ERROR, OkosuError

NAME = "report"
PLACE = 6
HELP = "make one self-contained HTML page of record files"
EXAMPLES = """\
  okosu report trial.json                      writes trial.html beside it and prints its path
  okosu report monday.json tuesday.json -o week.html
  okosu report --summary trial.json -o small.json   verdicts, quantiles and a digest: what documents are made from
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="record files of okosu try, bench or reproduce")
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
    from okosu.report import page

    if args.command:
        raise OkosuError("okosu report runs no program", "", "okosu report FILE… [-o OUT.html]", USAGE_ERROR)
    if args.summary:
        return _summarise(args)
    held = [(path, files.read(path)) for path in map(Path, args.files)]
    output = Path(args.output) if args.output else Path(args.files[0]).with_suffix(".html")
    text = page.render(held)
    if output.resolve() in {path.resolve() for path, _ in held}:
        raise OkosuError(f"{output} is one of the record files", "the page would replace it", "another name after -o")
    try:
        files.replace(output, text.encode())
    except OSError as error:
        raise OkosuError(f"{output} not written", f"{error.strerror or error}", "another place after -o") from error
    print(output)
    return 0


def _summarise(args: argparse.Namespace) -> int:
    from okosu.cli import _summary
    from okosu.records import summary

    paths = [Path(name) for name in args.files]
    output = Path(args.output) if args.output else paths[0].with_suffix(".summary.json")
    if output.resolve() in {path.resolve() for path in paths}:
        raise OkosuError(
            f"{output} is one of the record files", "the summary would replace it", "another name after -o"
        )
    made = _summary.make(paths)
    try:
        summary.write(made, output)
    except OSError as error:
        raise OkosuError(f"{output} not written", f"{error.strerror or error}", "another place after -o") from error
    print(output)
    return 0
