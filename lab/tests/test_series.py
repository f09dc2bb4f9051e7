# SPDX-License-Identifier: Apache-2.0
"""Series, configurations and patched trees, on a source of two files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab.kernel.base
import lab.kernel.source
from lab.kernel import config, series, tree
from lab.tests import lab_fake
from okosu.errors import OkosuError

pytestmark = lab_fake.needs_git


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("OKOSU_ROOM", str(tmp_path / "kernel"))
    return lab_fake.kernel_with_series(tmp_path / "kernel")


@pytest.fixture
def base(tmp_path: Path) -> lab.kernel.source.Source:
    return lab.kernel.source.Source(lab_fake.source(tmp_path / "linux"), "6.12.7-1", own=True)


def test_a_series_is_its_patches_in_order(kernel: Path) -> None:
    one = series.find("one")
    assert [path.name[:4] for path in one.patches] == ["0001", "0002"]
    assert one.touched == {"file.c", "new.c", "Kconfig.new"}
    assert one.symbols == {"REFUSED_BY_STOCK"}
    before, text = one.digest, one.patches[1].read_text()
    said, changed = text.split("\ndiff --git ", 1)
    # With another message and another version of git it is the same kernel.
    one.patches[1].write_text(f"{said}\nMore is said.\n\ndiff --git {changed.rpartition('-- ')[0]}-- \n9.9.9\n\n")
    assert series.find("one").digest == before
    one.patches[1].write_text(text.replace("\n+", "\n+ ", 1))
    assert series.find("one").digest != before


@pytest.mark.parametrize("signature", ["-- \n2.39.5\n\n", ""])
@pytest.mark.parametrize("last", ["+new\n", "-- \n+-\n"])
def test_a_message_is_left_out_of_the_digest_with_git_s_version_at_the_end_or_without(
    signature: str, last: str
) -> None:
    changed = f"diff --git a/x b/x\n@@ -1 +1 @@\n{last}"
    found = {series.changes(f"From 0\nSubject: {said}\n---\n\n{changed}{signature}".encode()) for said in ("a", "b")}
    # A line of the change that looks like the start of a signature is part of the change.
    assert {one.strip() for one in found} == {changed.encode().strip()}


@pytest.mark.parametrize("patch", [b"", b"diff --git a/x b/x\n+y\n", b"no patch\n"])
def test_what_is_no_mail_is_hashed_whole(patch: bytes) -> None:
    assert series.changes(patch) == patch


def test_an_unknown_series_names_those_that_are_there(kernel: Path) -> None:
    (kernel / "series" / "empty").mkdir()
    for name in ("two", "empty"):
        with pytest.raises(OkosuError, match=name) as caught:
            series.find(name)
        assert caught.value.why == "there is one"


def test_a_series_has_a_folder_for_each_base_and_shares_patches_by_links(kernel: Path) -> None:
    folder = kernel / "series/one"
    assert series.names("7.3") == []
    with pytest.raises(OkosuError, match=r"no series of Linux 7\.3 is called 'one'"):
        series.find("one", "7.3")
    (folder / "7.3").mkdir()
    first, second = series.find("one").patches
    (folder / "7.3" / first.name).symlink_to(f"../{first.name}")
    (folder / "7.3" / second.name).write_text(second.read_text().replace("REFUSED_BY_STOCK", "NEWER"))
    assert series.names("7.3") == series.names() == ["one"]
    assert series.on("7.3", ["none", "one"]) == ("one",)
    newer = series.find("one", "7.3")
    assert [path.resolve() for path in newer.patches] == [first, folder / "7.3" / second.name]
    assert (newer.symbols, series.find("one").symbols) == ({"NEWER"}, {"REFUSED_BY_STOCK"})
    # What a fragment asks for may belong to the series as it is on the other base.
    config.check({"NEWER": "y", "REFUSED_BY_STOCK": "y"}, {}, applied=())


def test_a_base_adds_to_a_fragment_and_takes_away_from_it(kernel: Path) -> None:
    (kernel / "config/7.3").mkdir()
    (kernel / "config/7.3/um.fragment").write_text("# CONFIG_A is not set\nCONFIG_C=y\n")
    assert config.fragments(["um"]) == {"A": "y", "B": "n"}
    assert config.fragments(["um"], "7.3") == {"A": "n", "B": "n", "C": "y"}


def test_bases_are_files_and_the_default_is_the_first(kernel: Path) -> None:
    assert lab.kernel.base.names() == ["6.12", "7.3"]
    assert lab.kernel.base.find().version == "6.12.7-1"
    with pytest.raises(OkosuError, match=r"no base is called '7\.4'") as caught:
        lab.kernel.base.find("7.4")
    assert (caught.value.why, caught.value.status) == ("there is 6.12, 7.3", 2)


def test_a_tree_has_the_patches_and_the_pristine_one_has_not(kernel: Path, base: lab.kernel.source.Source) -> None:
    made = tree.patched(base, [series.find("one")])
    assert "line five\n" in (made / "file.c").read_text()
    assert (made / "new.c").read_text() == "new\n"
    assert "line 5\n" in (base.path / "file.c").read_text()
    # A file that no patch touches is a hard link to the source; one that is patched is not.
    assert (made / "Makefile").stat().st_ino == (base.path / "Makefile").stat().st_ino
    assert (made / "file.c").stat().st_ino != (base.path / "file.c").stat().st_ino
    said = lab_fake.git(made, "log", "--format=%s")
    assert said.splitlines() == ["second: add files", "first: change a line", "Linux 6.12.7-1"]
    assert tree.patched(base, [series.find("one")]) == made
    assert tree.patched(base, []) == base.path


def test_the_users_own_tree_is_copied_not_linked(kernel: Path, base: lab.kernel.source.Source) -> None:
    theirs = lab.kernel.source.Source(base.path, base.version, own=False)
    made = tree.patched(theirs, [series.find("one")])
    assert (made / "Makefile").stat().st_ino != (base.path / "Makefile").stat().st_ino


def test_the_users_git_settings_have_no_say(
    kernel: Path, base: lab.kernel.source.Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text(
        "[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nonexistent\n\tautocrlf = true\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    assert b"\r" not in (tree.patched(base, [series.find("one")]) / "file.c").read_bytes()


def test_a_patch_that_does_not_apply_is_named_with_both_versions(kernel: Path, base: lab.kernel.source.Source) -> None:
    (base.path / "file.c").write_text("other\n")
    with pytest.raises(OkosuError) as caught:
        tree.patched(base, [series.find("one")])
    assert caught.value.what.startswith("one/0001-first-change-a-line.patch does not apply to Linux 6.12.7-1")
    assert "the series was made on 6.12.7-1" in caught.value.why
    assert caught.value.status == 125
    # The failed attempt left no tree in the cache.
    (base.path / "file.c").write_text("".join(f"line {n}\n" for n in range(20)))
    assert "line five\n" in (tree.patched(base, [series.find("one")]) / "file.c").read_text()


def test_a_folder_that_is_no_kernel(tmp_path: Path) -> None:
    with pytest.raises(OkosuError, match="not a kernel's source tree"):
        lab.kernel.source.find(tmp_path)


def test_the_version_of_a_users_tree_follows_its_contents(base: lab.kernel.source.Source) -> None:
    before = lab.kernel.source.version(base.path)
    assert before.startswith("6.12.7-")
    (base.path / ".git").mkdir()
    (base.path / ".git" / "index").write_text("x")
    assert lab.kernel.source.version(base.path) == before
    (base.path / "file.c").write_text("changed\n")
    assert lab.kernel.source.version(base.path) != before


def test_without_debians_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab.kernel.base, "SOURCES", tmp_path)
    with pytest.raises(OkosuError, match="source is missing") as caught:
        lab.kernel.source.version()
    assert "linux-source-6.12" in caught.value.why
    assert "make lab-deps" in caught.value.fix


def test_a_broken_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "linux-source-6.12.tar.xz").write_text("no archive")
    monkeypatch.setattr(lab.kernel.base, "SOURCES", tmp_path)
    with pytest.raises(OkosuError, match="cannot be unpacked") as caught:
        lab.kernel.source.find()
    assert "--reinstall linux-source-6.12" in caught.value.fix
    assert [path.suffix for path in tmp_path.glob("okosu/lab/source/*")] == [".partial"]


NAMES = st.text("abc/._-+", min_size=1, max_size=12).filter(lambda name: name.strip("/. ") == name and "//" not in name)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_touched_finds_the_files_of_a_patch(names: list[str]) -> None:
    text = "".join(f"diff --git a/{n} b/{n}\n--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-a\n+b\n" for n in names)
    assert series.touched(text.encode()) == set(names)


@given(st.binary(max_size=400))
def test_touched_takes_any_bytes(data: bytes) -> None:
    series.touched(b"--- a/x\n" + data)


def test_a_removed_or_renamed_file_is_touched(tmp_path: Path) -> None:
    (tmp_path / "old.c").write_text("x\n" * 30)
    (tmp_path / "gone.c").write_text("y\n")
    lab_fake.git(tmp_path, "init", "-q")
    lab_fake.git(tmp_path, "add", ".")
    lab_fake.git(tmp_path, "commit", "-qm", "base")
    lab_fake.git(tmp_path, "mv", "old.c", "new.c")
    lab_fake.git(tmp_path, "rm", "-q", "gone.c")
    lab_fake.git(tmp_path, "commit", "-qm", "move")
    said = subprocess.run(["git", "-C", tmp_path, "format-patch", "--stdout", "-1"], capture_output=True, check=True)
    assert series.touched(said.stdout) == {"old.c", "new.c", "gone.c"}


def test_fragments_merge_and_later_ones_win(kernel: Path) -> None:
    assert config.fragments(["um"]) == {"A": "y", "B": "n"}
    assert config.fragments(["um", "more"]) == {"A": "y", "B": "y", "TEXT": '"two words"'}
    with pytest.raises(OkosuError, match="'none'") as caught:
        config.fragments(["none"])
    assert "more, one, package, refused, um" in caught.value.why


VALUES = st.sampled_from(["y", "m", "n", "42", "0x1f", '"a b"', '"#"'])


@given(st.dictionaries(st.from_regex(r"\A[A-Z0-9_a-z]{1,8}\Z"), VALUES))
def test_a_configuration_survives_writing_and_reading(made: dict[str, str]) -> None:
    assert config.parse(config.text(made)) == made


@given(st.text(max_size=300))
def test_any_text_can_be_parsed(text: str) -> None:
    for name, value in config.parse(text).items():
        assert name
        assert value


def test_what_did_not_take_effect_is_named(kernel: Path) -> None:
    config.check({"A": "y", "B": "n"}, {"A": "y"})
    for made in ({"A": "n", "T": "1"}, {"T": "1"}, {"A": "m", "T": "1"}):
        with pytest.raises(OkosuError, match="CONFIG_A=y"):
            config.check({"A": "y", "T": "1"}, made)


def test_symbols_of_a_series_that_is_not_applied_are_no_fault(kernel: Path) -> None:
    asked = {"A": "y", "REFUSED_BY_STOCK": "y"}
    config.check(asked, {"A": "y"}, applied=())
    with pytest.raises(OkosuError, match="CONFIG_REFUSED_BY_STOCK=y"):
        config.check(asked, {"A": "y"}, applied=("one",))
