# SPDX-License-Identifier: Apache-2.0
"""What the commands of the lab share: the options that say which kernel, progress on a terminal, JSON at the end."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lab.kernel import base as bases
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from lab.cache import Say
    from lab.formats import BuiltKernel
    from lab.kernel.build import Built
    from lab.kernel.deb import Packaged
    from lab.run.platforms import Platform


def add_kernel_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "platform",
        metavar="PLATFORM",
        help="uml: a kernel that is a process of this machine; x86: one in QEMU; or one that a paper adds",
    )
    add_source_arguments(parser)
    add = parser.add_argument
    add("--series", action="append", metavar="NAME", help="apply this series (default: all of the platform's)")
    add("--stock", action="store_true", help="apply no series: Debian's kernel as it is")
    add("--fragment", action="append", metavar="NAME", help="merge config/NAME.fragment of a paper or of lab/ too")


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what says of every kernel which Linux it is, and by which compiler."""
    add = parser.add_argument
    add("--cc", default="gcc", metavar="CC", help="the compiler, as in CC=… of the kernel's make (default: gcc)")
    add("--kcflags", default="", metavar="FLAGS", help="more flags for the compiler, as in KCFLAGS=…")
    add("--kernel-source", type=Path, metavar="DIR", help="another kernel tree instead of Debian's")
    add("--base", default=bases.DEFAULT, metavar="VERSION", help=_bases_help())


def _bases_help() -> str:
    first, *others = bases.names()
    return f"the Linux that the series are applied to: {first} (default){''.join(f' or {name}' for name in others)}"


def chosen(args: argparse.Namespace, platform: Platform) -> dict[str, Any]:
    """Return the arguments of Platform.build that the options mean."""
    from lab.kernel.series import on

    if args.stock and args.series:
        raise OkosuError("--stock and --series exclude each other", "", "one of them", USAGE_ERROR)
    bases.find(args.base)
    series = () if args.stock else tuple(args.series or on(args.base, platform.recipe.series))
    return {
        "series": series,
        "fragments": (*platform.recipe.fragments, *(args.fragment or ())),
        "cc": args.cc,
        "kcflags": args.kcflags,
        "source": args.kernel_source,
        "base": args.base,
    }


def described(built: Built | Packaged) -> BuiltKernel:
    from lab.formats import BuiltKernel

    return BuiltKernel(
        base=built.base,
        kernel=built.version,
        compiler=built.compiler,
        series=list(built.series),
        fragments=list(built.fragments),
        key=built.key,
        path=str(built.path),
    )


@contextmanager
def progress() -> Iterator[Say]:
    """Give a function that shows a line of progress on stderr, in place of the last one; silent where that is no
    terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    # A terminal that does not know its width reports 0.
    width = (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1

    def say(text: str) -> None:
        sys.stderr.write(f"\r\033[K{text[:width]}")
        sys.stderr.flush()

    try:
        yield say
    finally:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


def write_json(where: str, value: msgspec.Struct) -> None:
    """Write `value` to the file `where`, or to stdout where that is "-"."""
    text = json.dumps(msgspec.to_builtins(value), indent=2) + "\n"
    if where == "-":
        sys.stdout.write(text)
        return
    try:
        Path(where).write_text(text)
    except OSError as error:
        raise OkosuError(
            f"{where}: {error.strerror}", "", "--json FILE that can be written", LAUNCHER_FAILED
        ) from error


def check_writable(args: argparse.Namespace, names: Sequence[str]) -> None:
    """Raise OkosuError (125) where a file that an option names cannot be written: better before a run than after it."""
    for name in names:
        where = getattr(args, name)
        if where is None or str(where) == "-":
            continue
        path = Path(where)
        if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            why = "there is no such folder" if not path.parent.is_dir() else ""
            raise OkosuError(f"{where} cannot be written", why, f"another file for --{name}", LAUNCHER_FAILED)
