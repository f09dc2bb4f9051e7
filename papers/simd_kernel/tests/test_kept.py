# SPDX-License-Identifier: Apache-2.0
"""An interrupted measurement's records are on disk, and records that grew step by step have all their samples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.cache import Say
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.simd_kernel.run.kept import Kept


def record() -> Record:
    return Record(tool="t", machine="m", subject="s", variant="v", metric="wall", unit="s", samples=[1.0])


def measured(say: Say, end: BaseException | None) -> Iterator[Record]:
    """Yield a record, add a sample at each of two steps, and end."""
    say("boot 1")
    yield (one := record())
    for number in (2, 3):
        say(f"boot {number}")
        one.samples.append(float(number))
    if end:
        raise end


def samples(path: Path) -> list[float]:
    return list(json.loads(path.read_text())["records"][0]["samples"])


@pytest.mark.parametrize(("end", "interrupted"), [(None, False), (KeyboardInterrupt(), True)])
def test_an_interruption_is_told_and_loses_nothing(
    tmp_path: Path, end: BaseException | None, interrupted: bool
) -> None:
    kept = Kept("s/1", str(tmp_path / "kept.json"), "profile")
    assert kept.take(measured(kept.before(lambda _: None), end)) is interrupted
    assert samples(kept.path) == kept.records[0].samples == [1.0, 2.0, 3.0]


def test_an_error_is_handed_on_and_loses_nothing(tmp_path: Path) -> None:
    kept = Kept("s/1", str(tmp_path / "kept.json"), "profile")
    with pytest.raises(OkosuError, match="no more"):
        kept.take(measured(kept.before(lambda _: None), OkosuError("no more", "", "")))
    assert samples(kept.path) == [1.0, 2.0, 3.0]


def test_what_was_measured_is_on_disk_before_the_next_step(tmp_path: Path) -> None:
    """Then not even SIGKILL loses a finished step."""
    kept = Kept("s/1", str(tmp_path / "kept.json"), "profile")
    steps: list[list[float]] = []
    kept.take(measured(kept.before(lambda _: steps.append(samples(kept.path) if kept.path.exists() else [])), None))
    assert steps == [[], [1.0], [1.0, 2.0]]


def test_without_a_file_a_new_one_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    kept = Kept("s/1", None, "profile")
    kept.take(iter([record()]))
    assert kept.path.parent == tmp_path / "okosu"
    assert samples(kept.path) == [1.0]
    Kept("s/1", None, "profile").take(iter([]))
    assert len(list((tmp_path / "okosu").iterdir())) == 1
