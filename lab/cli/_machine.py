# SPDX-License-Identifier: Apache-2.0
"""The options of the lab that say what machine a guest is, for the platforms that let one choose."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from okosu.errors import USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from lab.run.platforms import Platform

# Options that are called otherwise than their argument.
_OPTIONS = {"model": "machine"}


def add_machine_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options; each is an argument of some platform's run(), under its own name."""
    add = parser.add_argument_group("machine (x86)").add_argument
    add("--cpus", type=int, metavar="N", help="CPUs (default 1)")
    add("--nodes", type=int, metavar="N", help="NUMA nodes, among which CPUs and memory are divided (default 1)")
    add("--exact", action="store_true", default=None, help="two runs are the same to the command's last instruction")
    add(
        "--machine",
        dest="model",
        metavar="NAME",
        help="count what the command does in the memory hierarchy of this machine (lab/model/machines): exact",
    )
    add("--kvm", action="store_true", default=None, help="run on this machine's processor instead of emulating one")


def machine(args: argparse.Namespace, platform: Platform) -> dict[str, Any]:
    """Return the arguments of Platform.run for the options given; OkosuError (2) where run() has no such argument."""
    given = {name: getattr(args, name) for name in ("cpus", "nodes", "exact", "model", "kvm")}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in platform.machine:
            raise OkosuError(
                f"--{_OPTIONS.get(name, name)} does not go with {platform.name}",
                platform.doc,
                "okosu lab run x86",
                USAGE_ERROR,
            )
    return given
