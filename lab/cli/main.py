# SPDX-License-Identifier: Apache-2.0
"""okosu lab: kernels with okosu's series, and guests to run on them. The modules beside this are its sub-commands."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from types import ModuleType

from lab import cli, registry
from okosu.errors import USAGE_ERROR, OkosuError

NAME = "lab"
PLACE = 7
HELP = "build kernels with okosu's series and run commands on them"
EXAMPLES = """\
  okosu lab build uml                                    Linux with okosu's series, as a process of this machine
  okosu lab run uml -- uname -a                          boot it, run a command as root in it, hand back its status
  okosu lab run x86 --exact -- ./app                     the same in QEMU, every run alike to the last instruction
  okosu lab cache                                        what is kept, and how large it is
"""


def commands() -> dict[str, ModuleType]:
    """Return the sub-commands by name: every module of lab/cli that defines NAME, and what is registered."""
    found = {}
    for info in pkgutil.iter_modules(cli.__path__):
        if not info.name.startswith("_") and info.name != "main":
            module = importlib.import_module(f"lab.cli.{info.name}")
            found[module.NAME] = module
    found |= {module.NAME: module for module in registry.commands()}
    return dict(sorted(found.items(), key=lambda item: getattr(item[1], "PLACE", 50)))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from okosu.cli.main import Parser

    table = parser.add_subparsers(dest="lab_command", metavar="COMMAND", parser_class=Parser)
    for name, module in commands().items():
        own = table.add_parser(
            name, help=module.HELP, description=module.HELP, formatter_class=parser.formatter_class, allow_abbrev=False
        )
        own.examples = module.EXAMPLES + registry.examples(name)
        module.add_arguments(own)


def run(args: argparse.Namespace) -> int:
    module = commands().get(args.lab_command or "")
    if module is None:
        raise OkosuError("no command of the lab was given", "", "okosu lab --help", USAGE_ERROR)
    status: int = module.run(args)
    return status
