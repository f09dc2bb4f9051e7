# SPDX-License-Identifier: Apache-2.0
"""Every series as the mails that would be sent, and what the kernel's own scripts ask of them: make test-lab."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
from pathlib import Path

import pytest

from lab.kernel import mails, series, source
from lab.kernel.mails import Author
from lab.kernel.series import Series
from lab.kernel.source import Source

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

BY = Author("Ada Thor", "ada@example.org")
ALL = [(one.name, one.base) for one in series.on_every_base()]


@pytest.fixture(scope="module", params=ALL, ids=lambda one: "-".join(one))
def of(request: pytest.FixtureRequest) -> Series:
    return series.find(*request.param)


@pytest.fixture(scope="module")
def on(of: Series) -> Source:
    return source.find(base=of.base)


@pytest.fixture(scope="module")
def written(of: Series, on: Source, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return mails.write(of, on, tmp_path_factory.mktemp(of.name) / "mails", BY)


def test_the_tree_s_own_rules_are_kept_or_it_is_said_why_not(of: Series, on: Source, written: list[Path]) -> None:
    found = mails.remarks(written, on)
    known = mails.answers(of)
    assert [remark for remark in found if remark.kind not in known] == []
    # An answer to what nobody remarks any more is no answer.
    assert {remark.kind for remark in found} == set(known)


def test_each_mail_is_of_its_author_and_signed_off_once(of: Series, written: list[Path]) -> None:
    assert len(written) == 1 + len(of.patches)
    letter, *patches = [path.read_text() for path in written]
    assert "*** " not in letter
    version, digits = mails.letter(of).version, len(str(len(of.patches)))
    for number, text in enumerate([letter, *patches]):
        prefix = f"PATCH v{version}" if version > 1 else "PATCH"
        assert f"\nFrom: {BY.name} <{BY.mail}>\n" in text
        assert f"\nSubject: [{prefix} {number:0{digits}}/{len(patches)}] " in text
        assert text.count(f"\nSigned-off-by: {BY}\n") == min(number, 1)
    # What each patch changes is what it changed, and its blobs are named in full, by which a base can be found.
    for made, patch in zip(patches, of.patches, strict=True):
        assert changed(made) == changed(patch.read_text()), patch
        assert re.search(r"^index [0-9a-f]{40}\.\.[0-9a-f]{40}", made, re.M)


def changed(patch: str) -> list[str]:
    """Return the lines that a patch adds and removes."""
    return re.findall(r"^[+-].*$", series.changes(patch.encode()).decode(), re.M)


def test_a_letter_says_on_which_commit_of_the_user_s_tree_it_is_based(of: Series, on: Source, tmp_path: Path) -> None:
    # What the series changes, as the base has it, in a tree of git's with a commit before.
    tree = tmp_path / "linux"
    for path in [*of.touched, "Makefile"]:
        if (on.path / path).is_file():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_bytes((on.path / path).read_bytes())
    git = ["git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "-fA"], ["commit", "-qm", "Linux"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    user_s = source.find(tree)
    letter = mails.write(of, user_s, tmp_path / "mails", BY)[0].read_text()
    assert re.findall(r"^base-commit: (.*)$", letter, re.M) == [head]
    assert letter.rstrip().splitlines()[-2] == "-- "


def test_each_new_file_is_somebody_s(of: Series, on: Source, written: list[Path]) -> None:
    text = "".join(path.read_text() for path in written[1:])
    new = re.findall(r"^--- /dev/null\n\+\+\+ b/(\S+)$", text, re.M)
    # Lines that the series adds to MAINTAINERS count.
    entries = (on.path / "MAINTAINERS").read_text()
    owners = entries[: entries.rindex("\nTHE REST\n")] + "".join(re.findall(r"^\+([FN]:\t\S+\n)", text, re.M))
    assert [path for path in new if not owned(path, owners)] == []


def owned(path: str, maintainers: str) -> bool:
    """Return whether any of the lines of MAINTAINERS is about this file: F: names files or, by its last slash, folders,
    N: a pattern that is in the file's name."""
    files = re.findall(r"^F:\t(\S+)$", maintainers, re.M)
    names = re.findall(r"^N:\t(\S+)$", maintainers, re.M)
    return any(covers(pattern, path) for pattern in files) or any(re.search(name, path) for name in names)


def covers(pattern: str, path: str) -> bool:
    if pattern.endswith("/"):
        return path.startswith(pattern)
    return pattern.count("/") == path.count("/") and fnmatch.fnmatchcase(path, pattern)
