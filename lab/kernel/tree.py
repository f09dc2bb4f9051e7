# SPDX-License-Identifier: Apache-2.0
"""A source tree with series applied: hard links to the pristine one, and a git repository of the touched files."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from lab.kernel import base as bases
from lab.kernel.series import Series
from lab.kernel.source import Source
from okosu.errors import LAUNCHER_FAILED, OkosuError

_AUTHOR = {"GIT_AUTHOR_NAME": "okosu", "GIT_AUTHOR_EMAIL": "okosu@localhost"}
_COMMITTER = {"GIT_COMMITTER_NAME": "okosu", "GIT_COMMITTER_EMAIL": "okosu@localhost"}
# git's settings of the user and the system (signing, hooks, line ends) are not read.
GIT = {**_AUTHOR, **_COMMITTER, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def patched(source: Source, series: Sequence[Series], say: Say = quiet) -> Path:
    """Return the folder of `source` with every patch of `series` applied; without a series, the source itself."""
    if not series:
        return source.path
    name = cache.key(source.version, [one.digest for one in series])
    return cache.made("tree", name, lambda to: _make(to, source, series, say), say)


def _make(to: Path, source: Source, series: Sequence[Series], say: Say) -> None:
    say(f"applying {', '.join(one.name for one in series)}")
    # git and the kernel's build replace files and never write into old ones, so hard links to the lab's own source are
    # safe. A tree of the user's is copied, because an editor may write into files.
    how = ["-al"] if source.own else ["-a", "--reflink=auto"]
    _run(["cp", *how, f"{source.path}/.", str(to)])
    _run(["rm", "-rf", str(to / ".git")])
    _git(to, "init", "--quiet")
    files = sorted({path for one in series for path in one.touched if (to / path).is_file()})
    if files:
        # Forced: the kernel's .gitignore must not hide a file that a patch changes.
        _git(to, "add", "--force", "--", *files)
    _git(to, "commit", "--quiet", "--allow-empty", "--message", f"Linux {source.version}")
    for one in series:
        for patch in one.patches:
            _apply(to, one, patch, source)


def _apply(to: Path, series: Series, patch: Path, source: Source) -> None:
    done = _git_said(to, "am", "--quiet", "-3", "--keep-non-patch", str(patch))
    if done.returncode:
        made_on = bases.find(series.base).version
        why = next((line for line in done.stderr.splitlines() if line.startswith("error: ")), done.stderr.strip())
        raise OkosuError(
            f"{series.name}/{patch.name} does not apply to Linux {source.version}",
            f"{why.removeprefix('error: ')}; the series was made on {made_on}",
            f"linux-source of version {made_on}, or --kernel-source DIR with a tree near it",
            LAUNCHER_FAILED,
        )


def _git(folder: Path, *words: str) -> None:
    done = _git_said(folder, *words)
    if done.returncode:
        raise OkosuError(f"git {words[0]} failed in {folder}", done.stderr.strip(), "", LAUNCHER_FAILED)


def _git_said(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    asked = ["git", "-C", str(folder), "-c", "core.autocrlf=false", "-c", "commit.gpgsign=false", *words]
    return subprocess.run(asked, env={**GIT, "PATH": _PATH, "HOME": "/nonexistent"}, capture_output=True, text=True)


def _run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        if "No space left" in done.stderr:
            raise cache.full_disk()
        raise OkosuError(f"{words[0]} failed", done.stderr.strip(), "", LAUNCHER_FAILED)
