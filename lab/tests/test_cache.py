# SPDX-License-Identifier: Apache-2.0
"""The lab's cache: made once, put in place whole, by one process at a time."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab import cache
from okosu.errors import OkosuError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_key_depends_on_every_part_and_on_nothing_else() -> None:
    parts = ("6.12", ["a", "b"], {"x": "1", "y": "2"}, "gcc 12")
    assert cache.key(*parts) == cache.key("6.12", ["a", "b"], {"y": "2", "x": "1"}, "gcc 12")
    others = [("6.13", *parts[1:]), (parts[0], ["b", "a"], *parts[2:]), (*parts[:3], "gcc 11")]
    assert len({cache.key(*one) for one in (parts, *others)}) == 4


def test_made_once_and_whole() -> None:
    calls = []

    def fill(folder: Path) -> None:
        calls.append(folder)
        assert not (cache.root() / "kind" / "name").exists()
        (folder / "file").write_text("x")

    first = cache.made("kind", "name", fill)
    assert (first / "file").read_text() == "x"
    assert cache.made("kind", "name", fill) == first
    assert len(calls) == 1


def test_what_an_interruption_left_is_begun_anew_or_resumed() -> None:
    def stop(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise KeyboardInterrupt

    found = []
    for name, resume in (("anew", False), ("resumed", True)):
        with pytest.raises(KeyboardInterrupt):
            cache.made("kind", name, stop, resume=resume)
        cache.made("kind", name, lambda folder: found.append(sorted(p.name for p in folder.iterdir())), resume=resume)
    assert found == [[], ["half"]]


def test_a_full_disk_is_an_error_with_a_way_out() -> None:
    def full(folder: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OkosuError, match="no space left") as caught:
        cache.made("kind", "name", full)
    assert "okosu lab cache --clear" in caught.value.fix
    assert caught.value.status == 125


def test_other_failures_of_the_system_pass_unchanged() -> None:
    def denied(folder: Path) -> None:
        raise PermissionError(errno.EACCES, "denied")

    with pytest.raises(PermissionError):
        cache.made("kind", "name", denied)


WORKER = """
import sys, time
from pathlib import Path
from lab import cache
said = []
def fill(folder):
    with open(sys.argv[1], "a") as log:
        log.write("made\\n")
    print("in", flush=True)
    sys.stdin.readline()
cache.made("kind", "name", fill, said.append)
print("|".join(said), flush=True)
"""


def opened(pid: int) -> set[str]:
    """Return the files that a process has open; it may close some of them meanwhile."""
    found = set()
    for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.add(str(descriptor.readlink()))
    return found


def test_two_processes_make_it_once_and_the_second_says_that_it_waits(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def start() -> subprocess.Popen[str]:
        words = [sys.executable, "-c", WORKER, str(log)]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    first = start()
    assert first.stdout is not None
    assert first.stdout.readline() == "in\n"
    second = start()
    lock = cache.root() / "locks" / "kind-name"
    # The second process has opened the lock's file, and says that it waits just before it does.
    while str(lock) not in opened(second.pid):
        assert second.poll() is None
    first.communicate("go\n")
    said, _ = second.communicate()
    assert log.read_text() == "made\n"
    # If the first had finished before the second tried, there was nothing to wait for.
    assert said.strip() in ("another okosu is making the same: waiting for it", "")


def test_a_killed_maker_leaves_no_lock(tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = [sys.executable, "-c", WORKER, str(log)]
    killed = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None
    assert killed.stdout.readline() == "in\n"
    killed.kill()
    killed.communicate()
    assert cache.made("kind", "name", lambda folder: None).is_dir()


def test_sizes_count_linked_files_once_and_clear_removes_everything() -> None:
    def first(folder: Path) -> None:
        (folder / "file").write_bytes(b"x" * 100_000)

    one = cache.made("source", "a", first)
    cache.made("tree", "b", lambda folder: os.link(one / "file", folder / "file"))
    sizes = dict(cache.sizes())
    assert sizes["source/a"] >= 100_000
    assert sizes["tree/b"] == 0
    (cache.root() / "kernel" / "c.partial").mkdir(parents=True)
    (cache.root() / "failed-build.log").touch()
    cache.clear()
    assert cache.sizes() == []
    assert [path for path in cache.root().rglob("*") if path.is_file() and path.parent.name != "locks"] == []
