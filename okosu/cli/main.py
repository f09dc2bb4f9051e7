# SPDX-License-Identifier: Apache-2.0
"""The okosu command: finds its sub-commands in okosu/cli and by entry points, and turns every failure into the
three-part error."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from types import ModuleType
from typing import NoReturn

import okosu
from okosu import cli, plugins
from okosu.errors import INTERRUPTED, USAGE_ERROR, OkosuError

EXAMPLES = """\
  okosu try -- ./app args          which levers make this program faster here, and is it certain?
  okosu run --superpage=thp -- ./app args      run it with a lever
  okosu doctor                     what this machine has, and which levers are available
"""


IN_A_CHECKOUT = {"lab": "the folder lab/ has", "reproduce": "the folder papers/ has"}
"""Commands that a checkout registers and a wheel has not."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have the three parts, and whose help starts with examples."""

    examples = ""

    def error(self, message: str) -> NoReturn:
        """Raise the usage error instead of printing a usage dump that would hide it."""
        raise OkosuError(message, "", f"{self.prog} --help", USAGE_ERROR)

    def format_help(self) -> str:
        """The help text: examples first, then argparse's description of the arguments."""
        head = f"Examples:\n{self.examples}\n" if self.examples else ""
        return head + super().format_help()


def _own() -> list[str]:
    """The modules of okosu/cli that are sub-commands; try_ is `try`."""
    names = [info.name for info in pkgutil.iter_modules(cli.__path__)]
    return [name for name in names if not name.startswith("_") and name != "main"]


def commands() -> dict[str, ModuleType]:
    """The sub-commands by name: those of okosu/cli, and those registered by entry points."""
    own = [importlib.import_module(f"okosu.cli.{name}") for name in _own()]
    found = {module.NAME: module for module in own} | plugins.load("okosu.commands")
    return dict(sorted(found.items(), key=lambda item: getattr(item[1], "PLACE", 50)))


def command(name: str) -> ModuleType | None:
    """The sub-command of that name, alone: commands() loads all of the lab and the papers."""
    for own in _own():
        if own.rstrip("_") == name:
            return importlib.import_module(f"okosu.cli.{own}")
    return plugins.find("okosu.commands", name)


def _formatter() -> type[argparse.HelpFormatter]:
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        from rich_argparse import RawDescriptionRichHelpFormatter

        return RawDescriptionRichHelpFormatter
    return argparse.RawDescriptionHelpFormatter


def _parser(name: str, module: ModuleType) -> Parser:
    parser = Parser(prog=f"okosu {name}", description=module.HELP, formatter_class=_formatter(), allow_abbrev=False)
    parser.examples = module.EXAMPLES
    module.add_arguments(parser)
    return parser


def _overview() -> str:
    lines = ["Examples:", EXAMPLES, "usage: okosu COMMAND [OPTION...] [-- PROGRAM [ARG...]]", "", "commands:"]
    lines += [f"  {name:<10} {module.HELP}" for name, module in commands().items()]
    lines += ["", "  okosu COMMAND --help says more of each; okosu --version"]
    return "\n".join(lines)


def _nearest(name: str) -> OkosuError:
    if name in IN_A_CHECKOUT:
        why = f"{IN_A_CHECKOUT[name]} it, and neither is part of the installed package"
        return OkosuError(f"okosu {name} is not installed", why, "a checkout of okosu: make build", USAGE_ERROR)
    import difflib

    near = difflib.get_close_matches(name, list(commands()), 1)
    fix = f"okosu {near[0]}" if near else "okosu --help lists the commands"
    return OkosuError(f"no command is called {name!r}", "", fix, USAGE_ERROR)


def _parsed(name: str, module: ModuleType, words: list[str]) -> argparse.Namespace:
    """The options of a command; what follows `--` is the program and its arguments."""
    own, program = words, []
    if "--" in words:
        cut = words.index("--")
        own, program = words[:cut], words[cut + 1 :]
    args = _parser(name, module).parse_args(own)
    if program or not hasattr(args, "command"):
        args.command = program
    return args


def parse(argv: list[str]) -> argparse.Namespace:
    """The options of one command line, without the program's name. Runs nothing."""
    known = command(argv[0])
    assert known is not None
    return _parsed(argv[0], known, argv[1:])


def dispatch(argv: list[str]) -> int:
    """Run one command line (without the program's name) and return its exit status."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0 if argv else USAGE_ERROR
    if argv[0] == "--version":
        print(f"okosu {okosu.__version__}")
        return 0
    name, rest = argv[0], argv[1:]
    if name == "run":
        # `okosu run` goes straight to the launcher, which parses its own options; a second parser here could disagree
        # with it.
        from okosu.cli import run

        return run.main(rest)
    module = command(name)
    if module is None:
        raise _nearest(name)
    args = _parsed(name, module, rest)
    status: int = module.run(args)
    return status


def main() -> int:
    """Entry point of the console script."""
    try:
        return dispatch(sys.argv[1:])
    except OkosuError as error:
        print(error, file=sys.stderr)
        return error.status
    except BrokenPipeError:
        # Whoever read our output has closed the pipe. Without this, Python would report the error again when it flushes
        # at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
