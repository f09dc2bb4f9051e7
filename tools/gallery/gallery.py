# SPDX-License-Identifier: Apache-2.0
"""Runs `okosu try` with its default options on the real programs of programs.toml and keeps a summary of each trial.

    python tools/gallery/gallery.py results/MACHINE-DAY [--only NAME,…] [--check-inputs | --again]

With --again what each trial recommends is tried once more, with other seeds, and kept as again-NAME.json.
Inputs and full records lie under ~/.cache/okosu/gallery. A program that has a summary is not tried again, so an
interrupted run goes on where it was. docs/GALLERY.md is then filled by tools/readme.py. Run it alone on the machine;
it takes five minutes or so a program. Exit status: 0, or 1 where a program could not be tried.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "okosu/gallery"

LIBRARIES = Path.home() / ".local/share/okosu/libraries"


class Program(msgspec.Struct, forbid_unknown_fields=True):
    """One program of programs.toml, which says what the fields are."""

    name: str
    about: str
    command: list[str]
    input: str
    tool: str = ""
    apt: list[str] = []
    pip: list[str] = []
    env: dict[str, str] = {}
    prepare: str = ""
    service: str = ""
    ready: list[str] = []
    options: list[str] = []


class Gallery(msgspec.Struct, forbid_unknown_fields=True):
    """programs.toml: all programs, and the packages that are there beside those of each."""

    program: list[Program]
    beside: list[str]
    unpacked: list[str]


def gallery() -> Gallery:
    return msgspec.convert(tomllib.loads((HERE / "programs.toml").read_text()), Gallery)


def absent(packages: list[str]) -> str:
    """What has to be typed to have all these packages; "" where none is missing."""
    asked = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Abbrev}\n", *packages]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout if packages else ""
    there = {line.split()[0] for line in said.splitlines() if line.split()[1:] == ["ii"]}
    lacking = [name for name in packages if name not in there]
    return f"apt-get install {' '.join(lacking)}" if lacking else ""


def unpack(package: str) -> None:
    """Unpack a package of Debian to where recipes look for libraries that are not installed."""
    done = LIBRARIES / f".{package}"
    if not done.is_file():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True)
            (file,) = Path(folder).glob("*.deb")
            LIBRARIES.mkdir(parents=True, exist_ok=True)
            subprocess.run(["dpkg", "-x", file, LIBRARIES], check=True)
        done.touch()


def environment(program: Program) -> dict[str, str]:
    """The environment of the program: no settings of this shell's language, and the packages of PyPI in front."""
    kept = {name: value for name, value in os.environ.items() if name != "LANG" and not name.startswith("LC_")}
    if not program.pip:
        return {**kept, **program.env}
    digest = hashlib.sha256(" ".join(program.pip).encode()).hexdigest()[:12]
    venv = CACHE / f"venv-{digest}"
    if not (venv / "done").is_file():
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/pip", "install", "--quiet", *program.pip], check=True)
        (venv / "done").touch()
    return {**kept, **program.env, "PATH": f"{venv}/bin:{kept['PATH']}"}


def prepared(program: Program) -> Path:
    """The folder with the program's input, which is made the first time."""
    digest = hashlib.sha256(program.input.encode()).hexdigest()[:12]
    folder = CACHE / f"{program.name}-{digest}"
    if not (folder / ".done").is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(["sh", "-ec", program.input], cwd=folder, check=True)
        (folder / ".done").touch()
    return folder


def _kept(okosu_try: Sequence[str | Path], program: Program, name: str, results: Path) -> bool:
    """Run this trial and keep the record's summary. Returns whether that worked; okosu says why not."""
    record = CACHE / "records" / f"{name}.json"
    record.parent.mkdir(parents=True, exist_ok=True)
    okosu = [sys.executable, "-m", "okosu"]
    command = [*okosu, "try", "--force", "--json", record, *okosu_try]
    done = subprocess.run(command, cwd=prepared(program), env=environment(program), check=False)
    summary = [*okosu, "report", "--summary", record, "-o", results / f"{name}.json"]
    return done.returncode == 0 and subprocess.run(summary, check=False).returncode == 0


def tried(program: Program, results: Path) -> bool:
    """Try one program and keep the summary. Returns whether that worked."""
    return _kept(subject(program), program, f"gallery-{program.name}", results)


def subject(program: Program) -> list[str]:
    """What is tried, as words of okosu try."""
    if not program.service:
        return ["--", *program.command]
    ready = [word for one in program.ready for word in ("--ready", one)]
    before = ["--prepare", program.prepare] if program.prepare else []
    return [*before, "--service", program.service, *ready, *program.options, "--load", shlex.join(program.command)]


def tried_again(program: Program, results: Path) -> bool:
    """Try once more what the first trial recommends. Returns whether that worked, or there was nothing to try.

    The record of the trial says all of it; where only its summary is here, made on another machine, its levers do.
    """
    record, kept = CACHE / "records" / f"gallery-{program.name}.json", results / f"gallery-{program.name}.json"
    first = next((path for path in (record, kept) if path.is_file()), None)
    best = next((v for v in json.loads(first.read_text())["verdicts"] if v["headline"]), None) if first else None
    if best is None:
        return True
    what = ["--revalidate", record] if first is record else ["--levers", levers(best), *subject(program)]
    return _kept(what, program, f"again-{program.name}", results)


def levers(verdict: Mapping[str, Any]) -> str:
    """The levers of an arm with their values, as --levers has them; a recipe chooses its value in the pilot."""
    values = dict(option.removeprefix("--").split("=", 1) for option in verdict["options"] if "=" in option)
    return ",".join(f"{name}={values[name]}" if name in values else name for name in verdict["arm"].split("+"))


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, metavar="FOLDER", help="where the summaries go")
    parser.add_argument("--only", metavar="NAME,…", help="these programs")
    parser.add_argument(
        "--check-inputs", action="store_true", help="make the inputs and run each program once, but for services"
    )
    parser.add_argument("--again", action="store_true", help="try what each trial here recommends once more")
    args = parser.parse_args()
    held = gallery()
    every = held.program
    wanted = args.only.split(",") if args.only else [one.name for one in every]
    if unknown := set(wanted) - {one.name for one in every}:
        parser.error(f"no program is called {', '.join(sorted(unknown))}")
    if lacking := absent(held.beside):
        parser.exit(1, f"the recipes want libraries that are not here: {lacking}\n")
    for package in held.unpacked:
        unpack(package)
    args.results.mkdir(parents=True, exist_ok=True)
    failed = []
    for number, program in enumerate((one for one in every if one.name in wanted), 1):
        print(f"== {number} of {len(wanted)}: {program.name}: {program.about}", file=sys.stderr, flush=True)
        if lacking := absent([] if program.tool and shutil.which(program.tool) else program.apt):
            print(f"{program.name} cannot be tried: {lacking}", file=sys.stderr)
            failed.append(program.name)
        elif args.check_inputs and not program.service:
            folder = prepared(program)
            run = subprocess.run(program.command, cwd=folder, env=environment(program), check=False)
            failed += [program.name] * (run.returncode != 0)
        else:
            kind, make = ("again", tried_again) if args.again else ("gallery", tried)
            if not (args.results / f"{kind}-{program.name}.json").is_file() and not make(program, args.results):
                failed.append(program.name)
    if failed:
        print(f"not tried: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
