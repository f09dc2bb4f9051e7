# SPDX-License-Identifier: Apache-2.0
"""LLVM's compiler and tools, which a kernel's make takes as one family: with LLVM=1 clang, ld.lld and the others, with
LLVM=-19 those of Debian's packages clang-19, lld-19 and llvm-19."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from lab.kernel.build import compiler_version

TOOLS = ("clang", "ld.lld", "llvm-ar", "llvm-nm", "llvm-objcopy", "llvm-objdump", "llvm-readelf", "llvm-strip")
_UNNUMBERED = "LLVM=1"
_NUMBERED = re.compile(r"clang-(\d+)$")
_VERSION = re.compile(r"clang version (\d+(?:\.\d+)*)")


def least(tree: Path) -> str:
    """Return the version of the oldest clang that builds the kernel in `tree`."""
    asked = ["scripts/min-tool-version.sh", "llvm"]
    return subprocess.run(asked, cwd=tree, capture_output=True, text=True, check=True).stdout.strip()


def families() -> dict[str, str]:
    """Return {word for make: version of its clang} of those on the PATH that are whole: the one without a number first,
    then the newest."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    numbers = {found[1] for at in folders for path in Path(at).glob("clang-*") if (found := _NUMBERED.match(path.name))}
    words = [_UNNUMBERED, *(f"LLVM=-{number}" for number in sorted(numbers, key=int, reverse=True))]
    whole = [word for word in words if all(shutil.which(tool + _suffix(word)) for tool in TOOLS)]
    return {word: found[1] for word in whole if (found := _VERSION.search(version(word)))}


def new_enough(tree: Path) -> str | None:
    """Return the first of families() that builds the kernel in `tree`, or None."""
    asked = _numbers(least(tree))
    return next((word for word, found in families().items() if _numbers(found) >= asked), None)


def version(word: str) -> str:
    """Return what the clang of a word for make says of itself."""
    return compiler_version(f"clang{_suffix(word)}")


def _suffix(word: str) -> str:
    return "" if word == _UNNUMBERED else word.removeprefix("LLVM=")


def _numbers(dotted: str) -> list[int]:
    return [int(part) for part in dotted.split(".")]
