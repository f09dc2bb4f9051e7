# SPDX-License-Identifier: Apache-2.0
"""okosu lab series: the list, and mails of a series of two patches on a source of two files."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.kernel import mails, series, source
from lab.kernel.mails import Author
from lab.kernel.series import Series
from lab.tests import lab_fake
from okosu.errors import OkosuError

pytestmark = [
    lab_fake.needs_git,
    pytest.mark.skipif(not shutil.which("perl"), reason="perl is not installed, in which checkpatch.pl is written"),
]

ROOT = Path(__file__).resolve().parents[2]
BY = Author("Ada Thor", "ada@example.org")
LETTER = "Subject: [PATCH v3 0/9] all: Two things\n that are one\n\nThis is why.\n\nAnd how.\n"
# Remarks each mail that adds a file.
CHECKPATCH = r"""
for my $name (grep { !/^--/ } @ARGV) {
    open(my $file, '<', $name) or die; local $/; my $text = <$file>;
    print "$name:7: WARNING:NEW_FILE: a file: is new\n" if $text =~ m{^--- /dev/null}m;
}
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OKOSU_ROOM", str(tmp_path / "kernel"))
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    (tmp_path / "gitconfig").write_text(f"[user]\n\tname = {BY.name}\n\temail = {BY.mail}\n")
    made = lab_fake.kernel_with_series(tmp_path / "kernel")
    (made / "series/one/cover-letter.txt").write_text(LETTER)
    return made


@pytest.fixture
def linux(tmp_path: Path) -> Path:
    made = lab_fake.source(tmp_path / "linux")
    (made / "scripts").mkdir()
    (made / "scripts/checkpatch.pl").write_text(CHECKPATCH)
    return made


@pytest.fixture
def one(room: Path) -> Series:
    return series.find("one")


def texts(one: Series, linux: Path, to: Path, version: int = 0) -> list[str]:
    return [path.read_text() for path in mails.write(one, source.find(linux), to, BY, version)]


def test_a_mail_is_of_who_sends_it_and_signed_off_by_them(one: Series, linux: Path, tmp_path: Path) -> None:
    letter, *patches = texts(one, linux, tmp_path / "to")
    for number, (text, subject) in enumerate(
        zip(
            [letter, *patches],
            ["all: Two things that are one", "first: change a line", "second: add files"],
            strict=True,
        )
    ):
        assert "\nFrom: Ada Thor <ada@example.org>\n" in text
        assert f"\nSubject: [PATCH v3 {number}/2] {subject}\n" in text
        assert text.count("\nSigned-off-by: Ada Thor <ada@example.org>\n") == min(number, 1)
    assert "\nThis is why.\n\nAnd how.\n" in letter
    assert "3 files changed" in letter
    assert re.search(r"^index [0-9a-f]{40}\.\.[0-9a-f]{40}", patches[0], re.M)
    assert "\n-line 5\n+line five\n" in patches[0]
    assert "\nSubject: [PATCH 1/2] first: change a line\n" in texts(one, linux, tmp_path / "first", version=1)[1]


def test_a_message_that_was_changed_is_the_mail_s_although_the_tree_is_kept(
    one: Series, linux: Path, tmp_path: Path
) -> None:
    texts(one, linux, tmp_path / "before")
    path = one.patches[0]
    path.write_text(path.read_text().replace("\n---\n", "\nBecause of this.\n---\n", 1).replace("] first:", "] new:"))
    changed = texts(series.find("one"), linux, tmp_path / "after")[1]
    assert "] new: change a line\n\nBecause of this.\n\nSigned-off-by: " in changed


def test_mails_are_not_mixed_with_others(one: Series, linux: Path, tmp_path: Path) -> None:
    texts(one, linux, tmp_path / "to")
    with pytest.raises(OkosuError, match="has mails already"):
        texts(one, linux, tmp_path / "to")


def test_a_series_without_a_letter_or_with_one_that_has_no_subject_is_not_sent(
    one: Series, room: Path, linux: Path, tmp_path: Path
) -> None:
    letter = room / "series/one/cover-letter.txt"
    letter.write_text("This is why.\n")
    with pytest.raises(OkosuError, match="no cover letter") as caught:
        texts(one, linux, tmp_path / "to")
    assert "does not begin with Subject" in caught.value.why
    letter.unlink()
    with pytest.raises(OkosuError) as caught:
        texts(one, linux, tmp_path / "to")
    assert caught.value.why == f"{letter} is missing"


def test_another_base_has_the_letter_of_the_default_one_unless_it_has_its_own(room: Path) -> None:
    (folder := room / "series/one/7.3").mkdir()
    for path in series.find("one").patches:
        (folder / path.name).symlink_to(f"../{path.name}")
    assert mails.letter(series.find("one", "7.3")).version == 3
    (folder / "cover-letter.txt").write_text("Subject: [PATCH 0/2] x\n\ny\n")
    assert mails.letter(series.find("one", "7.3")) == mails.Letter("x", "y\n", 1)
    assert mails.letter(series.find("one")).version == 3


def test_a_tree_of_git_s_is_named_by_its_commit_unless_it_was_edited(one: Series, linux: Path, tmp_path: Path) -> None:
    letter = texts(one, linux, tmp_path / "none")[0]
    assert "base-commit" not in letter
    assert "\nBase: Linux 6.12.7.\n" in letter
    lab_fake.git(linux, "init", "-q")
    lab_fake.git(linux, "add", "-A")
    lab_fake.git(linux, "commit", "-qm", "Linux")
    head = lab_fake.git(linux, "rev-parse", "HEAD").strip()
    assert f"\nbase-commit: {head}\n" in texts(one, linux, tmp_path / "to")[0]
    # What the series does not touch may be edited.
    (linux / "fake-linux").write_text("other\n")
    assert f"\nbase-commit: {head}\n" in texts(one, linux, tmp_path / "again")[0]
    (linux / "file.c").write_text((linux / "file.c").read_text() + "more\n")
    with pytest.raises(OkosuError, match="not as it was committed"):
        texts(one, linux, tmp_path / "edited")


def okosu(*words: str | Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "okosu", "lab", "series", *map(str, words)]
    return subprocess.run(argv, env={**os.environ}, check=False, capture_output=True, text=True)


def test_what_checkpatch_remarks_is_answered_or_is_an_error(room: Path, linux: Path, tmp_path: Path) -> None:
    words = ("one", "--kernel-source", linux, "--format")
    done = okosu(*words, tmp_path / "to")
    assert done.returncode == 1, done.stderr
    assert "v3-0002-second-add-files.patch: NEW_FILE: a file: is new" in done.stderr
    assert "no base-commit" in done.stderr
    assert len(done.stdout.splitlines()) == 3
    (room / "series/one/checkpatch.txt").write_text("NEW_FILE: it has to be: new\n")
    done = okosu(*words, tmp_path / "answered", "--json", "-")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["schema"], said["author"], said["base_commit"]) == ("okosu.lab-mails/1", str(BY), "")
    assert "\n  NEW_FILE: it has to be: new\n" in Path(said["mails"][0]).read_text()


def test_who_is_nobody_to_git_sends_nothing(room: Path, linux: Path, tmp_path: Path) -> None:
    (tmp_path / "gitconfig").write_text("")
    done = okosu("one", "--kernel-source", linux, "--format", tmp_path / "to")
    assert done.returncode == 125
    assert "git does not know by whose name" in done.stderr
    assert "git config --global user.name" in done.stderr
    assert not (tmp_path / "to").exists()


def test_the_list_names_series_and_bases_and_a_dry_run_writes_nothing(room: Path, tmp_path: Path) -> None:
    assert okosu().stdout.split() == ["one", "6.12", "2", "patches"]
    assert json.loads(okosu("--json", "-").stdout)["series"] == [{"name": "one", "base": "6.12", "patches": 2}]
    done = okosu("one", "--format", tmp_path / "to", "--reroll", "4", "--dry-run")
    assert f"by: {BY}\nseries: one v4, 2 patches for Linux 6.12\n" in done.stdout
    assert not (tmp_path / "to").exists()
    assert okosu("one").returncode == 2


@pytest.mark.parametrize(
    "letter", sorted(ROOT.glob("papers/*/series/**/cover-letter.txt")), ids=lambda path: path.parent.name
)
def test_each_heading_of_a_letter_is_a_line_with_a_rule_as_long_below_it(letter: Path) -> None:
    lines = letter.read_text().splitlines()
    for above, line in itertools.pairwise(lines):
        # A table may have rules of its own.
        if re.search(r"-{4}", line) and not line.startswith((" ", "\t")):
            assert line == "-" * len(above), line
