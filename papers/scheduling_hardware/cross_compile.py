# SPDX-License-Identifier: Apache-2.0
"""Programs for the machine in rtl/: C compiled with its library (sw) for one of the two back ends of pthreads."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from lab.kernel.build import compiler_version
from okosu.errors import LAUNCHER_FAILED, NOT_FOUND, USAGE_ERROR, OkosuError
from papers.scheduling_hardware import ROOM
from papers.scheduling_hardware.verilator import check_tools

BACKENDS = ("ssh", "software")
COMPILER = "mipsel-linux-gnu-gcc"
COMPILERS = {"mips1": COMPILER, "rv32": "riscv64-unknown-elf-gcc"}
"""The compiler for each instruction set of a machine."""
_PACKAGES = {"mips1": "gcc-mipsel-linux-gnu", "rv32": "gcc-riscv64-unknown-elf"}
_KIND = "rtl-program"
_ELF = "program.elf"
_SOURCES = (".c", ".S", ".s")
# Words of the compiler's and the linker's lines that say what is wrong with a program.
_WRONG = ("error", "undefined", "overflowed", "reach into the stacks")
_FLAGS = ("-D", "-U", "-I", "-O", "-f", "-include", "-Wl,")


@dataclass(frozen=True)
class Command:
    """What was typed behind `--`: a finished program (.elf), or sources and compiler's flags; then its arguments."""

    sources: tuple[str, ...]
    flags: tuple[str, ...]
    arguments: tuple[str, ...]

    @property
    def elf(self) -> Path | None:
        """The program, where what was named is a finished one."""
        return Path(self.sources[0]) if self.sources[0].endswith(".elf") else None


def parse(words: Sequence[str]) -> Command:
    """Tell sources and flags, which come first, from the program's arguments; a second `--` may stand between them."""
    sources: list[str] = []
    flags: list[str] = []
    rest = list(words)
    while rest and (rest[0].endswith(_SOURCES) or rest[0].startswith(_FLAGS)):
        (sources if rest[0].endswith(_SOURCES) else flags).append(rest.pop(0))
    if rest and not sources and rest[0].endswith(".elf"):
        sources.append(rest.pop(0))
    if rest[:1] == ["--"]:
        rest.pop(0)
    if not sources:
        said = f"{words[0]} is neither" if words else "none was given"
        raise OkosuError(
            "no program for the machine was given",
            f"it is C (.c, .S), compiled for the machine, or compiled already (.elf); {said}",
            "okosu lab run rtl -- examples/programs/grain.c 8 1000",
            USAGE_ERROR,
        )
    for name in sources:
        if not Path(name).is_file():
            raise OkosuError(f"{name}: no such file", "", "", NOT_FOUND)
    if sources[0].endswith(".elf") and (rest or flags):
        why = "arguments are put into a program when it is compiled"
        raise OkosuError(f"{sources[0]} takes no arguments", why, "the program's source", USAGE_ERROR)
    return Command(tuple(sources), tuple(flags), tuple(rest))


def check_compiler(isa: str) -> None:
    """Raise OkosuError (125) that names the package of the instruction set's compiler where it is missing."""
    check_tools({COMPILERS[isa]: _PACKAGES[isa]})


def compile_(wanted: Command, backend: str, say: Say = quiet, isa: str = "mips1") -> Path:
    """Return the program, compiled for an instruction set where the cache has none; OkosuError (1) with the compiler's
    words if it fails."""
    if wanted.elf:
        return wanted.elf
    compiler = COMPILERS[isa]
    check_compiler(isa)
    library = ROOM / "sw"
    own = {name: Path(name).read_bytes().hex() for name in wanted.sources}
    # Headers beside a source may be included, so they belong to the key.
    beside = {str(path): _digest(path) for name in wanted.sources for path in sorted(Path(name).parent.glob("*.h"))}
    base = {str(path.relative_to(library)): _digest(path) for path in sorted(library.rglob("*")) if path.is_file()}
    key = cache.key(own, beside, base, wanted.flags, wanted.arguments, backend, isa, compiler_version(compiler))

    def fill(folder: Path) -> None:
        objects = _library(library, backend, isa, base, say)
        say(f"compiling {' '.join(wanted.sources)} for {backend}")
        words = ["sh", str(library / "build.sh"), backend, str(folder / _ELF), *wanted.sources, *wanted.flags]
        env = {**os.environ, "LIBRARY": str(objects), "ISA": isa}
        done = subprocess.run([*words, "--", *wanted.arguments], capture_output=True, text=True, check=False, env=env)
        if done.returncode:
            raise _failed(wanted, done.stderr)

    return cache.made(_KIND, key, fill, say) / _ELF


def _library(folder: Path, backend: str, isa: str, digests: dict[str, str], say: Say) -> Path:
    """Return the objects that every program of a back end is linked with, compiled where the cache has none."""

    def fill(to: Path) -> None:
        say(f"compiling the library for {backend}")
        words = ["sh", str(folder / "build.sh"), "--library", backend, str(to)]
        env = {**os.environ, "ISA": isa}
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
        if done.returncode:
            raise OkosuError("the machine's library does not compile", done.stderr.strip(), "", LAUNCHER_FAILED)

    key = cache.key(digests, backend, isa, compiler_version(COMPILERS[isa]))
    return cache.made(f"{_KIND}-library", key, fill, say)


def _failed(wanted: Command, said: str) -> OkosuError:
    lines = said.strip().splitlines()
    errors = [line for line in lines if any(word in line for word in _WRONG) and "collect2" not in line] or lines[-3:]
    return OkosuError(
        f"{wanted.sources[0]} does not compile for the machine",
        "\n       ".join(errors[:5]),
        "the program's source; the library has what sw/include declares",
    )


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
