# SPDX-License-Identifier: Apache-2.0
"""okosu lab package: a kernel with okosu's series as Debian packages, for a machine of the user's to boot."""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.cli import _kernel_options
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.kernel.deb import Packaged

NAME = "package"
PLACE = 4
HELP = "make Debian packages of a kernel with okosu's series, on Debian's configuration or yours"
EXAMPLES = """\
  okosu lab package --out debs                             Debian's kernel for virtual machines with okosu's series
  okosu lab package --config running --out debs            on the configuration of the kernel that runs here
  okosu lab package --config my.config --series hugetlb-prezero --out debs    on yours, with one series
  okosu lab package --base 7.3 --out debs                  a newer Linux
  okosu lab package --dry-run --out debs                   what would be done
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from lab.kernel import whole

    add = parser.add_argument
    add(
        "--config",
        default=whole.CLOUD,
        metavar="|".join((whole.CLOUD, whole.RUNNING, "FILE")),
        help=f"Debian's configuration for virtual machines ({whole.CLOUD}, default), the running kernel's, or a file",
    )
    add("--series", action="append", metavar="NAME,...", help="apply these series (default: all that can be packaged)")
    add("--stock", action="store_true", help="apply no series: Debian's kernel as it is, to compare with")
    _kernel_options.add_source_arguments(parser)
    add("--out", type=Path, required=True, metavar="FOLDER", help="where the packages are put")
    add("--json", metavar="FILE|-", help="write what was made as JSON; -: to stdout")
    add("--dry-run", action="store_true", help="print what would be done, and build and write nothing")


def run(args: argparse.Namespace) -> int:
    """Build what is missing and put the packages where the user says; print them, and on stderr how to install the
    kernel and how to go back: 0, 2 or 125."""
    from dataclasses import replace

    import msgspec

    from lab.formats import PackageFile
    from lab.kernel import deb

    recipe = replace(deb.RECIPE, **_chosen(args))
    folder = args.out.absolute()
    # What cannot be put there is not built first, which takes long.
    if folder.exists() and not folder.is_dir():
        raise OkosuError(f"{folder} is not a folder", "it is a file", "--out with another name", LAUNCHER_FAILED)
    _kernel_options.check_writable(args, ["json"])
    if args.dry_run:
        print("\n".join([*deb.plan(recipe, args.config), f"put in: {folder}"]))
        return 0
    with _kernel_options.progress() as say:
        packaged = deb.make(recipe, args.config, say)
        say(f"copying to {folder}")
        files = deb.put(packaged, folder)
    if args.json:
        described = msgspec.structs.asdict(_kernel_options.described(packaged))
        digests = {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        told = PackageFile(**described, release=packaged.release, config=str(packaged.config), packages=digests)
        _kernel_options.write_json(args.json, told)
    if args.json != "-":
        print("\n".join(map(str, files)))
    print(_how(packaged, files), file=sys.stderr)
    return 0


def _chosen(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parts of the recipe that the options mean; OkosuError where a series cannot be packaged."""
    from lab.kernel import base, deb, series

    if args.stock and args.series:
        raise OkosuError("--stock and --series exclude each other", "", "one of them", USAGE_ERROR)
    base.find(args.base)
    can = deb.packageable(args.base)
    if not can and not args.stock:
        raise OkosuError(
            f"there is no series to be packaged on Linux {args.base}",
            f"no config/{deb.FRAGMENT}.fragment sets an option of any of them",
            "--base with another, or --stock",
            LAUNCHER_FAILED,
        )
    names = tuple(name for said in args.series or [] for name in said.split(","))
    for name in names:
        series.find(name, args.base)
        if name not in can:
            raise OkosuError(
                f"the series {name} is not one to be packaged",
                f"no config/{deb.FRAGMENT}.fragment sets an option of it: nobody could switch it on",
                f"--series with {' or '.join(can)}; okosu lab build x86 --series {name} for the lab's machine",
                LAUNCHER_FAILED,
            )
    return {
        "series": () if args.stock else names or can,
        "cc": args.cc,
        "kcflags": args.kcflags,
        "source": args.kernel_source,
        "base": args.base,
    }


def _how(packaged: Packaged, files: Sequence[Path]) -> str:
    """Return how to install the kernel, to choose it at boot, and to go back."""
    release, image = packaged.release, files[0]
    return f"""\
Nothing was installed. To install the kernel beside those that are there, as root:
  apt install {image}
(the other package holds the headers, which modules built outside the kernel, such as DKMS's, need).
It is not signed: with Secure Boot on, GRUB does not start it.

To start it once, as root, where /etc/default/grub says GRUB_DEFAULT=saved:
  grub-reboot 'Advanced options for Debian GNU/Linux>Debian GNU/Linux, with Linux {release}' && reboot
or choose it by hand in GRUB's menu, under "Advanced options for Debian GNU/Linux". Without GRUB_DEFAULT=saved GRUB
starts whichever installed kernel has the highest version. That it runs is what these print:
  uname -r    {release}
  uname -v    a line with okosu{packaged.key[:8]} in it

To go back, start another kernel from the same menu, and then, as root:
  apt purge linux-image-{release}"""
