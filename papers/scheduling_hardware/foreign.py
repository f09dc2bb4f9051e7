# SPDX-License-Identifier: Apache-2.0
"""The suites that others wrote, in the version of the committed tables: had, run, and compared with these.

python -m papers.scheduling_hardware.foreign [--jobs N] [torture|posix|riscv|riscv-arch|benchmarks…]

Nothing of them is in git. GCC's torture comes as a Debian package, which is fetched. The others are in repositories:
from these git fetches them, or from a mirror of which it has been told (url.MIRROR.insteadOf). Each goes into the lab's
cache. Who has them already, or no connection, puts them into one folder by their names (torture, posix, riscv,
riscv-arch-1.0 and so on: what SOURCES says, or a link to it), and has OKOSU_FOREIGN=FOLDER in the environment.

The exit status is 3 where a verdict or a number is another one than in its table, 1 where a suite cannot be had.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from lab.cli import _kernel_options
from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware import ROOM, arch_suite, riscv_suite, suite

ARCH = ("riscv-arch-1.0", "riscv-arch-2.7", "riscv-arch-3.9")
"""Versions of riscv-arch-test: each has programs, or references, that the others have not."""
SUITES = {
    "torture": ("torture",),
    "posix": ("posix",),
    "riscv": ("riscv",),
    "riscv-arch": ARCH,
    "benchmarks": ("coremark", "dhrystone"),
}
"""The suites, and the sources of each."""
GIVEN = "OKOSU_FOREIGN"
"""The variable that names a folder with sources by their names."""
BENCHMARKS = ROOM.parents[1] / "results/epyc-zen5-vm-2026-11-26/scheduling-hardware-benchmarks.json"
_TABLES = ROOM / "suites"
_KIND = "foreign"
_TORTURE = "gcc.c-torture/execute"


@dataclass(frozen=True)
class Repository:
    """A commit of a git repository, and the folders in it that are wanted, "" for all of it."""

    url: str
    commit: str
    folders: tuple[str, ...] = ("",)

    def __str__(self) -> str:
        return f"{self.url.removeprefix('https://')} at {self.commit[:10]}"

    def fetch(self, into: Path) -> None:
        """Fetch the folders at this commit into `into`, which is empty."""
        git = ["git", "-C", str(into)]
        _done([*git, "init", "--quiet"], self)
        # A server may refuse to leave files out; then it sends them all.
        _done([*git, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", self.url, self.commit], self)
        patterns = [f"/{folder}/" if folder else "/*" for folder in self.folders]
        _done([*git, "sparse-checkout", "set", "--no-cone", *patterns], self)
        _done([*git, "-c", f"remote.origin.url={self.url}", "checkout", "--quiet", self.commit], self)


@dataclass(frozen=True)
class Package:
    """A version of a Debian package with an archive of sources, and the folder in that which is wanted."""

    name: str
    version: str
    archive: str
    folder: str

    def __str__(self) -> str:
        return f"Debian's {self.name} {self.version}"

    def fetch(self, into: Path) -> None:
        """Fetch the folder into `into`, which is empty; the packages and the archive are not kept."""
        _done(["apt-get", "download", f"{self.name}={self.version}"], self, into)
        packages = sorted(into.glob("*.deb"))
        _done(["dpkg-deb", "--extract", str(packages[0]), str(into / "package")], self)
        archives = sorted((into / "package").glob(self.archive))
        if not archives:
            raise OkosuError(f"{self} holds no {self.archive}", "", "another version of the package", LAUNCHER_FAILED)
        _done(["tar", "-C", str(into), "-xf", str(archives[0]), "--wildcards", f"*/{self.folder}"], self)
        packages[0].unlink()
        shutil.rmtree(into / "package")


@dataclass(frozen=True)
class Wheel:
    """A version of a package of PyPI that is nothing but files, and the folder in it which is wanted."""

    name: str
    version: str
    folder: str

    def __str__(self) -> str:
        return f"PyPI's {self.name} {self.version}"

    def fetch(self, into: Path) -> None:
        """Fetch the folder into `into`, which is empty; of the package no code is run, and it is not kept."""
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        _done([*pip, "--dest", str(into), f"{self.name}=={self.version}"], self)
        wheel = next(into.glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(into, [one for one in archive.namelist() if one.startswith(f"{self.folder}/")])
        wheel.unlink()


def _arch(commit: str) -> Repository:
    folders = (*arch_suite.HEADERS, *(f"{arch_suite.PROGRAMS}/{group}" for group in arch_suite.GROUPS))
    return Repository("https://github.com/riscv-non-isa/riscv-arch-test", commit, folders)


Source = Repository | Package | Wheel
SOURCES: dict[str, Source] = {
    "torture": Package(
        "gcc-12-source", "12.2.0-14+deb12u1", "usr/src/gcc-12/gcc-*.tar.xz", f"gcc/testsuite/{_TORTURE}"
    ),
    "posix": Repository(
        "https://github.com/linux-test-project/ltp",
        "695827725f4fc14fe583043127e0335c29bbd52d",
        ("testcases/open_posix_testsuite",),
    ),
    "riscv": Repository(
        "https://github.com/riscv-software-src/riscv-tests", "34e6b6d1e7936b526075432fb730d89148623484", ("isa",)
    ),
    "riscv-arch-1.0": _arch("2636302c27557b42d99bed7e0537beffdf8e1ab4"),
    "riscv-arch-2.7": _arch("96e3589a867955e94c95ba098822da54d3ae39c0"),
    "riscv-arch-3.9": _arch("eb66181dd27ff7847e2c3a010705b13490b0bf75"),
    "picorv32": Wheel("pythondata-cpu-picorv32", "1.0.post218", "pythondata_cpu_picorv32/verilog"),
    "coremark": Repository("https://github.com/eembc/coremark", "d5fad6bd094899101a4e5fd53af7298160ced6ab"),
    "dhrystone": Repository(
        "https://github.com/sifive/benchmark-dhrystone", "0ddff533cc9052c524990d5ace4560372053314b"
    ),
}


def fetched(name: str, say: Say = quiet) -> Path:
    """Return the folder with a source: the one that is given, or fetched where the cache lacks it.

    OkosuError (125) where it cannot be had.
    """
    source = SOURCES[name]
    given = os.environ.get(GIVEN)
    if given and (folder := Path(given).absolute() / name).is_dir():
        return folder

    def fill(folder: Path) -> None:
        say(f"fetching {source}")
        try:
            source.fetch(folder)
        except OkosuError as error:
            error.fix = f"{error.fix}, or {source} as FOLDER/{name} and {GIVEN}=FOLDER"
            raise

    return cache.made(_KIND, f"{name}-{cache.key(repr(source))}", fill, say)


def _done(words: Sequence[str], of: Source, at: Path | None = None) -> None:
    """Run a command that fetches; OkosuError with its last line where it fails."""
    try:
        done = subprocess.run(words, cwd=at, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError as error:
        raise OkosuError(f"{words[0]} not found", f"it fetches {of}", f"install {words[0]}", LAUNCHER_FAILED) from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        why = lines[-1] if lines else f"{words[0]} failed"
        raise OkosuError(f"{of} cannot be had", why, "a connection to where it comes from", LAUNCHER_FAILED)


def _within(folder: Path, *patterns: str) -> Path:
    """Return the first thing in a folder that matches one of the patterns; OkosuError (125) where nothing does."""
    found = next((one for pattern in patterns for one in sorted(folder.glob(pattern))), None)
    if found is None:
        why = f"no {patterns[0]} is in it"
        raise OkosuError(f"{folder} is not the suite", why, "the folder's top is that of its sources", LAUNCHER_FAILED)
    return found


def compare(name: str, jobs: int = 1, say: Say = quiet) -> int:
    """Run a suite, and return 0 where all is as in its table, 3 where not; OkosuError where it cannot be had."""
    if name == "benchmarks":
        from papers.scheduling_hardware import benchmarks

        folders = [f"--{source}={fetched(source, say)}" for source in SUITES[name]]
        return benchmarks.main([*folders, f"--compare={BENCHMARKS}"])
    if name == "riscv":
        return riscv_suite.main(_riscv(fetched(name, say)))
    if name == "riscv-arch":
        return max(arch_suite.main(_arch_words(version, fetched(version, say))) for version in ARCH)
    words = _torture(fetched(name, say)) if name == "torture" else _posix(fetched(name, say))
    return suite.main([*words, "--jobs", str(jobs)])


def _torture(folder: Path) -> list[str]:
    programs = _within(folder, f"gcc/testsuite/{_TORTURE}", f"*/gcc/testsuite/{_TORTURE}")
    flags = ["--flag=-fbuiltin", "--flag=-Wl,--defsym=__okosu_main_stack=0x100000"]
    table = ["--reasons", str(_TABLES / "torture.toml"), "--compare", str(_TABLES / "torture.json")]
    # Folders within hold programs of several files, and such as want flags of their own.
    return [str(programs), "--flat", "--pes", "1", "--max-cycles", "60000000", *flags, *table]


def _posix(folder: Path) -> list[str]:
    common = _within(folder, "testcases/open_posix_testsuite/lib/common.c", "lib/common.c")
    base = common.parents[1]
    interfaces = base / "conformance/interfaces"
    folders = [str(one) for name in ("pthread_*", "sem_*", "sched_*") for one in sorted(interfaces.glob(name))]
    table = ["--reasons", str(_TABLES / "posix.toml"), "--compare", str(_TABLES / "open-posix.json")]
    return [*folders, "--with", str(common), "-I", str(base / "include"), *table]


def _riscv(folder: Path) -> list[str]:
    isa = _within(folder, "isa/rv32ui", "rv32ui").parent
    return [str(isa), "--reasons", str(_TABLES / "riscv.toml"), "--compare", str(_TABLES / "riscv.json")]


def _arch_words(version: str, folder: Path) -> list[str]:
    table = ["--reasons", str(_TABLES / "riscv-arch.toml"), "--compare", str(_TABLES / f"{version}.json")]
    return [str(folder), *table]


def main(arguments: Sequence[str]) -> int:
    """Compare the suites; return the exit status."""
    parser = argparse.ArgumentParser(prog="foreign", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)} (default: all)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="programs at once")
    asked = parser.parse_args(arguments)
    if unknown := [one for one in asked.suites if one not in SUITES]:
        parser.error(f"no suite is called {unknown[0]} (of {', '.join(SUITES)})")
    status = 0
    for name in asked.suites or SUITES:
        try:
            with _kernel_options.progress() as say:
                status = max(status, compare(name, asked.jobs, say))
        except OkosuError as error:
            print(error, file=sys.stderr)
            status = max(status, 1)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
