# SPDX-License-Identifier: Apache-2.0
"""A series as mails to the kernel's maintainers: of the user's name, signed off, with a cover letter and what they are
based on.

The cover letter is the file cover-letter.txt beside the patches, or that of the default base where another base has
none: a line "Subject: [PATCH …] …" and, after an empty one, the text. The file checkpatch.txt, found likewise, answers
what checkpatch.pl --strict remarks: a line "TYPE: why" each.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.cache import Say, quiet
from lab.kernel import tree
from lab.kernel.series import Series
from lab.kernel.source import Source, makefile_version
from okosu.errors import LAUNCHER_FAILED, OkosuError

LETTER, ANSWERS = "cover-letter.txt", "checkpatch.txt"
_SUBJECT = re.compile(r"Subject: \[PATCH(?: v(\d+))?(?: \d+/\d+)?\] (.+)")
_REMARK = re.compile(r"^(.*?):(?:\d+:)? (?:ERROR|WARNING|CHECK):(\w+): (.*)$", re.M)
# git's version at the end of a mail.
_END = "\n-- \n"


@dataclass(frozen=True)
class Author:
    """Who sends the mails."""

    name: str
    mail: str

    def __str__(self) -> str:
        return f"{self.name} <{self.mail}>"


@dataclass(frozen=True)
class Letter:
    """A cover letter; `version` is that of the series, 1 where the letter says none."""

    subject: str
    text: str
    version: int


@dataclass(frozen=True)
class Remark:
    """What checkpatch.pl has to say of a mail."""

    mail: str
    kind: str
    text: str


def author() -> Author:
    """Return who git says the user is; OkosuError (125) if it was never told."""
    asked = ["git", "-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    found = re.match(r"(.+) <(.+)> \d+ ", done.stdout)
    if done.returncode or not found:
        raise OkosuError(
            "git does not know by whose name the mails are to be",
            "a patch for the kernel is signed off by a person (the kernel's Documentation/process/submitting-patches)",
            "git config --global user.name 'NAME' and git config --global user.email MAIL",
            LAUNCHER_FAILED,
        )
    return Author(found[1], found[2])


def letter(of: Series) -> Letter:
    """Return the cover letter of a series; OkosuError (125) if it has none or it has no subject."""
    path = _beside(of, LETTER)
    head, _, text = path.read_text().partition("\n\n") if path else ("", "", "")
    found = _SUBJECT.fullmatch(" ".join(head.split()))
    if not path or not found:
        where = path or of.patches[0].parent / LETTER
        why = f"{where} {'does not begin with Subject: [PATCH] …' if path else 'is missing'}"
        raise OkosuError(f"the series {of.name} has no cover letter", why, "write it", LAUNCHER_FAILED)
    return Letter(found[2], text.strip() + "\n", int(found[1] or 1))


def answers(of: Series) -> dict[str, str]:
    """Return {type of a remark of checkpatch.pl's: why the series does not do as it says}."""
    path = _beside(of, ANSWERS)
    rows = [line.partition(": ") for line in (path.read_text().splitlines() if path else [])]
    return {kind: why for kind, _, why in rows}


def _beside(of: Series, name: str) -> Path | None:
    folder = of.patches[0].parent
    folders = [folder, folder.parent] if folder.name == of.base else [folder]
    return next((path for place in folders if (path := place / name).is_file()), None)


def base_commit(source: Source, of: Series) -> str:
    """Return the commit that the user's tree is at, or "" where it is no tree of git's.

    OkosuError (125) where what the series changes is not as in that commit.
    """
    if source.own or not (source.path / ".git").exists():
        return ""
    there = sorted(path for path in of.touched if (source.path / path).is_file())
    if _git_said(source.path, "diff", "--quiet", "HEAD", "--", *there).returncode:
        raise OkosuError(
            f"{source.path} is not as it was committed",
            "files that the series changes were edited, so no commit is its base",
            "git stash, or git commit",
            LAUNCHER_FAILED,
        )
    return _git(source.path, "rev-parse", "HEAD")


def write(of: Series, source: Source, to: Path, by: Author, version: int = 0, say: Say = quiet) -> list[Path]:
    """Write the series' mails into the folder `to`, which must have no mails; return them, the cover letter first.

    `version` is that of the series, unless it is 0 the letter's.
    """
    said = letter(of)
    base = base_commit(source, of)
    if to.is_dir() and any(to.glob("*.patch")):
        raise OkosuError(f"{to} has mails already", "", "another folder, or rm them", LAUNCHER_FAILED)
    patched = tree.patched(source, [of], say)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _git(folder, "clone", "--quiet", "--bare", "--shared", str(patched), ".")
        start, *commits = _git(folder, "rev-list", "--reverse", "HEAD").split()
        last = _signed(folder, start, zip(commits, of.patches, strict=True), by)
        _git(folder, "update-ref", f"refs/heads/{of.name}", last)
        described = f"{said.subject}\n\n{said.text}{_remarks_answered(of)}"
        number = version or said.version
        _git(
            folder,
            *("-c", f"branch.{of.name}.description={described}", "format-patch", "--quiet", "--numbered"),
            *("--full-index", "--signoff", "--cover-letter", "--cover-from-description=subject"),
            *(("-v", str(number)) if number > 1 else ()),
            *("-o", str(to.resolve()), f"{start}..{of.name}"),
            by=by,
        )
    mails = sorted(to.glob("*.patch"))
    first = mails[0].read_text()
    known = f"{source.version}, as Debian has it" if source.own else makefile_version(source.path)
    on = f"base-commit: {base}" if base else f"Base: Linux {known}."
    mails[0].write_text(f"{first[: first.rindex(_END)]}\n{on}\n{first[first.rindex(_END) :]}")
    return mails


def _remarks_answered(of: Series) -> str:
    rows = [f"  {kind}: {why}\n" for kind, why in answers(of).items()]
    return "".join(["\nWhat checkpatch.pl --strict remarks and why it is left:\n", *rows]) if rows else ""


def _signed(folder: Path, start: str, commits: Iterable[tuple[str, Path]], by: Author) -> str:
    """Return the last of the commits as they would be had `by` made them.

    The messages are those of the patches: a tree of the lab's is kept when only they change.
    """
    for commit, patch in commits:
        head = _git(folder, "mailinfo", "-b", "message", "changes", given=patch.read_text())
        subject = re.search(r"^Subject: (.*)$", head, re.M)
        message = f"{subject[1] if subject else ''}\n\n{(folder / 'message').read_text()}"
        start = _git(folder, "commit-tree", f"{commit}^{{tree}}", "-p", start, given=message, by=by)
    return start


def remarks(mails: Sequence[Path], source: Source) -> list[Remark]:
    """Return what the tree's own checkpatch.pl --strict says of the mails but of the first, the letter."""
    if not shutil.which("perl"):
        why = "scripts/checkpatch.pl of the kernel is written in it"
        raise OkosuError("perl is missing", why, "apt-get install perl   (as root)", LAUNCHER_FAILED)
    words: list[str | Path] = ["perl", "scripts/checkpatch.pl", "--strict", "--show-types", "--terse", "--no-summary"]
    paths = [path.resolve() for path in mails[1:]]
    done = subprocess.run([*words, *paths], cwd=source.path, capture_output=True, text=True, check=False)
    found = [Remark(Path(path).name, kind, text) for path, kind, text in _REMARK.findall(done.stdout)]
    if done.returncode and not found:
        raise OkosuError("scripts/checkpatch.pl failed", (done.stderr or done.stdout).strip(), "", LAUNCHER_FAILED)
    return found


def _git(folder: Path, *words: str, by: Author | None = None, given: str = "") -> str:
    done = _git_said(folder, *words, by=by, given=given)
    if done.returncode:
        verb = next(word for word in words if word.isalpha() or "-" in word[1:])
        raise OkosuError(f"git {verb} failed", done.stderr.strip(), "", LAUNCHER_FAILED)
    return done.stdout.strip()


def _git_said(folder: Path, *words: str, by: Author | None = None, given: str = "") -> subprocess.CompletedProcess[str]:
    env = {**tree.GIT, "PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"}
    if by:
        for role in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{role}_NAME": by.name, f"GIT_{role}_EMAIL": by.mail}
    asked = ["git", "-C", str(folder), *words]
    return subprocess.run(asked, env=env, input=given, capture_output=True, text=True, check=False)
