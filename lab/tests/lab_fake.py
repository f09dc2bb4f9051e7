# SPDX-License-Identifier: Apache-2.0
"""A kernel source, a series and configurations as small as they can be, for tests of the lab without a kernel."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

# The lab needs git, which `make lab-deps` installs; the rest of okosu does not.
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

# "Configures" by copying the symbols asked for but those called REFUSED; "compiles" a script that plays the guest.
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 7
allnoconfig:
\t@grep -v REFUSED $(KCONFIG_ALLCONFIG) > $(O)/.config; true
olddefconfig:
\t@sed -i /REFUSED=/d $(O)/.config
bindeb-pkg:
\t@echo "  CC      file1.o"
\t@echo once >> $(O)/../../../packaged
\t@if [ -e broken.c ]; then echo "broken.c:1:1: error: this is broken"; exit 1; fi
\t@mkdir -p $(O)/include/config; echo 6.12.7-okosu > $(O)/include/config/kernel.release
\t@for i in image-6.12.7-okosu headers-6.12.7-okosu libc-dev; do \\
\t\tcp $(O)/.config $(O)/../linux-$${i}_$(KDEB_PKGVERSION)_amd64.deb; done
\t@touch $(O)/../linux-upstream.changes
linux:
\t@for i in 1 2 3 4 5 6 7 8 9 10; do echo "  CC      file$$i.o"; done
\t@echo once >> $(O)/../../../compiled
\t@if [ -e broken.c ]; then echo "broken.c:1:1: error: this is broken"; exit 1; fi
\t@if [ -e slow.c ]; then echo $$$$ > $(O)/../../../pid; sleep 60; fi
\t@cp fake-linux $(O)/linux; cp file.c $(O)/vmlinux; touch $(O)/System.map
"""


def source(folder: Path, linux: str = "#!/bin/sh\n") -> Path:
    """Make a source tree; `linux` is the text of the program that a build of it produces."""
    (folder / "arch/x86/um/shared/sysdep").mkdir(parents=True)
    (folder / "arch/x86/um/shared/sysdep/ptrace.h").write_text("#define FP_SIZE 1\n")
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "file.c").write_text("".join(f"line {n}\n" for n in range(20)))
    (folder / "fake-linux").write_text(linux)
    (folder / "fake-linux").chmod(0o755)
    return folder


def kernel(folder: Path) -> Path:
    """Make a room with some fragments and one guest program, and without a series."""
    (folder / "config").mkdir(parents=True)
    (folder / "guest").mkdir()
    (folder / "kernel/bases").mkdir(parents=True)
    (folder / "kernel/bases/6.12.toml").write_text('package = "linux-source-6.12"\nversion = "6.12.7-1"\n')
    (folder / "kernel/bases/7.3.toml").write_text(
        'package = "linux-source-7.3"\nversion = "7.3.1-1"\nsuite = "somewhere"\n'
    )
    (folder / "config/um.fragment").write_text("# what is wanted\nCONFIG_A=y\n# CONFIG_B is not set\n")
    (folder / "config/more.fragment").write_text('CONFIG_B=y\nCONFIG_TEXT="two words"\n')
    (folder / "config/refused.fragment").write_text("CONFIG_REFUSED=y\n")
    (folder / "config/package.fragment").write_text(
        'CONFIG_LOCALVERSION="-okosu"\nCONFIG_TRUSTED=""\nCONFIG_REFUSED_BY_STOCK=y\n'
    )
    (folder / "config/one.fragment").write_text("CONFIG_REFUSED_BY_STOCK=y\n")
    (folder / "guest/init.c").write_text("int main(void) { return 0; }\n")
    return folder


def kernel_with_series(folder: Path) -> Path:
    """Make a room with the series `one`: git has to be there."""
    kernel(folder)
    add_series(folder, "one")
    return folder


def add_series(room: Path, name: str) -> None:
    """Add a series to a room: it changes file.c, adds new.c and a symbol."""
    series = room / "series" / name
    series.mkdir(parents=True)
    work = room / "work"
    work.mkdir()
    (work / "file.c").write_text("".join(f"line {n}\n" for n in range(20)))
    git(work, "init", "-q")
    git(work, "add", ".")
    git(work, "commit", "-qm", "base")
    change(work, series)


def change(work: Path, series: Path) -> None:
    """Commit the series' two patches in `work` and write them to `series`."""
    (work / "file.c").write_text((work / "file.c").read_text().replace("line 5\n", "line five\n"))
    git(work, "commit", "-qam", "first: change a line")
    (work / "new.c").write_text("new\n")
    (work / "Kconfig.new").write_text("config REFUSED_BY_STOCK\n\tbool\n")
    git(work, "add", ".")
    git(work, "commit", "-qm", "second: add files")
    git(work, "format-patch", "-q", "-o", str(series), "HEAD~2")


def git(folder: Path, *words: str) -> str:
    """Run git in a folder and return what it prints."""
    own = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", "-C", folder, *own, *words], check=True, capture_output=True, text=True).stdout
