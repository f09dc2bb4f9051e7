# SPDX-License-Identifier: Apache-2.0
"""okosu lab break-even: from which size a kernel's copy gains by the vector unit, the program's registers kept."""

from __future__ import annotations

import argparse

from lab.cli import _kernel_options

NAME = "break-even"
PLACE = 6
HELP = "from which size a kernel's copy gains by the vector unit (x86)"
EXAMPLES = """\
  okosu lab break-even --kvm      measured on this machine's processor
  okosu lab break-even            in an emulated machine, whose clock says nothing: it says so
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kvm", action="store_true", help="run on this machine's processor instead of emulating one")
    parser.add_argument("--json", metavar="FILE|-", help="write the costs as JSON; -: to stdout")
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, and boot nothing")


def run(args: argparse.Namespace) -> int:
    """Boot the kernel and print its table: 0, also where it could not be measured, or 125."""
    from dataclasses import asdict

    import msgspec

    from lab.kernel import build
    from lab.run import qemu
    from papers.simd_kernel.formats import BreakEvenFile
    from papers.simd_kernel.run import break_even

    if args.dry_run:
        print("\n".join(build.plan(qemu.RECIPE)))
        print("boot: simd_copy=auto, " + ("under KVM" if args.kvm else "emulated"))
        return 0
    with _kernel_options.progress() as say:
        found = break_even.boot(qemu.build(say=say), kvm=args.kvm, say=say)
    if args.json:
        _kernel_options.write_json(args.json, msgspec.convert(asdict(found), BreakEvenFile))
    if args.json != "-":
        print("\n".join(break_even.table(found)))
    return 0
