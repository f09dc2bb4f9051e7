# SPDX-License-Identifier: Apache-2.0
"""The okosu command: finds its sub-commands in okosu/cli and by entry points, and turns every failure into the
three-part error."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import difflib
import errno
import importlib
import io
import os
import pkgutil
import re
import sys
from types import ModuleType
from typing import NoReturn

import okosu
from okosu import cli, plugins, stops
from okosu.errors import INTERRUPTED, USAGE_ERROR, OkosuError, Stopped, usage

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
        what, why, fix = message, "", f"{self.prog} --help"
        if found := re.fullmatch(r"argument (\S+): expected one argument", message):
            option = found[1].split("/")[0]
            what, why, fix = (
                f"{option} needs a value",
                "nothing, or another option, stands behind it",
                f"{option}=VALUE",
            )
        elif found := re.fullmatch(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)", message):
            option = found[1].split("/")[0]
            what, why = f"{option} {found[2]}: there is no such value", f"{option} takes {found[3]}".replace("'", "")
        elif found := re.fullmatch(r"unrecognized arguments: (.*)", message):
            known = [option for action in self._actions for option in action.option_strings]
            name = found[1].split()[0].partition("=")[0]
            near = difflib.get_close_matches(name, known, 1, 0.7)
            what, why = f"{name} is not known", f"{self.prog} has no such option"
            fix = f"did you mean {near[0]}? {fix}" if near else fix
        elif found := re.fullmatch(r"the following arguments are required: (.*)", message):
            what, why = f"{self.prog} needs {found[1]}", "nothing was named"
        raise usage(what, why, fix)

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
        return usage(f"okosu {name} is not installed", why, "a checkout of okosu: make build")
    near = difflib.get_close_matches(name, list(commands()), 1)
    fix = f"okosu {near[0]}" if near else "okosu --help lists the commands"
    return usage(f"no command is called {name!r}", "", fix)


def _parsed(name: str, module: ModuleType, words: list[str]) -> argparse.Namespace:
    """The options of a command; what follows `--` is the program and its arguments."""
    own, program = words, []
    if "--" in words:
        cut = words.index("--")
        own, program = words[:cut], words[cut + 1 :]
    args = _parser(name, module).parse_args(own)
    # Words before `--` that are no options are lost otherwise: they would take the program's place.
    args.stray = getattr(args, "command", []) if program else []
    if program or not hasattr(args, "command"):
        args.command = program
    args.given = [word.partition("=")[0] for word in own if word.startswith("-")]
    args.words = words
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


PLAIN = str.maketrans(
    {"×": "x", "–": "-", "—": "-", "−": "-", "≤": "<=", "≥": ">=", "±": "+-", "→": "->", "…": "...", "µ": "u", "·": "*"}
)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """What is written for characters that the output's encoding has not."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(PLAIN)
    return "".join(c if c.isascii() else "?" for c in text), error.end


def _encode_anything() -> None:
    """Let stdout and stderr degrade what they cannot encode, where the locale is not UTF-8."""
    codecs.register_error("okosu.plain", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="okosu.plain")


def main() -> int:
    """Entry point of the console script."""
    status = _status()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            # A terminal that was closed, or a full disk. Python would end with a status of its own, 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if status == 0:
                print(f"okosu: the output could not be written: {error.strerror}", file=sys.stderr)
                status = 1
    return status


def _status() -> int:
    _encode_anything()
    if sys.argv[1:2] != ["run"]:
        stops.stoppable()
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
    except OSError as error:
        # Python names no file in an error of a stream that was open already: the output, on a full disk.
        if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        with contextlib.suppress(OSError):
            print(f"okosu: the output could not be written: {error.strerror}", file=sys.stderr)
        return 1
    except Stopped as stop:
        return 128 + stop.number
    except KeyboardInterrupt:
        return INTERRUPTED
