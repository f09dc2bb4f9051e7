# SPDX-License-Identifier: Apache-2.0
"""Record files: what is written comes back, and no damage to a file ends in a traceback."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from okosu.errors import OkosuError
from okosu.records import files
from okosu.records.types import (
    Arm,
    BenchFile,
    BenchPlan,
    Compared,
    ExperimentRun,
    Failure,
    Options,
    Plan,
    Proof,
    Record,
    ReproduceFile,
    ReproducePlan,
    Tool,
    TryFile,
    Verdict,
)

FIXTURE = Path(__file__).parents[1] / "data" / "try-small.json"

numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.recursive(st.none() | st.booleans() | numbers | texts, st.lists, max_leaves=4)
facts = st.dictionaries(texts, values, max_size=3)


@st.composite
def records(draw: st.DrawFn) -> Record:
    count = draw(st.integers(0, 4))
    column = draw(st.booleans())
    name = draw(texts.filter(bool))
    own = draw(st.booleans())
    return Record(
        tool=draw(texts),
        machine=draw(texts),
        platform=draw(st.sampled_from(["native", "uml", "qemu", "verilator"])),
        subject=draw(texts),
        lever="" if own else name,
        variant=name if own else "",
        stage=draw(st.sampled_from(["pilot", "rounds", "bench", "confirmation"])),
        metric=draw(texts),
        unit=draw(texts),
        samples=draw(st.lists(numbers, min_size=count, max_size=count)),
        order=list(range(count)) if column else [],
        rounds=draw(st.lists(st.integers(0, 2**40), min_size=count, max_size=count)),
        parts=draw(st.lists(st.integers(0, 9), min_size=count, max_size=count)) if column else [],
        predecessor=draw(st.lists(texts, min_size=count, max_size=count)),
        parameters=draw(st.dictionaries(texts, texts | numbers, max_size=3)),
        seed=draw(st.integers(0, 2**63)),
        proof=draw(st.none() | st.builds(Proof, st.booleans(), texts, st.dictionaries(texts, numbers, max_size=2))),
        note=draw(texts),
    )


verdicts = st.builds(
    Verdict,
    arm=texts,
    verdict=texts,
    options=st.lists(texts, max_size=2),
    ratio=st.none() | numbers,
    interval=st.none() | st.tuples(numbers, numbers),
    applied=st.none() | st.booleans(),
    minutes_needed=st.none() | numbers,
)
comparisons = st.builds(
    Compared,
    id=texts,
    text=texts,
    kind=st.sampled_from(["published", "floor", "at least"]),
    source=texts,
    target=numbers,
    measured=st.none() | numbers,
    interval=st.none() | st.tuples(numbers, numbers),
    holds=st.none() | st.booleans(),
)


plans = st.builds(
    Plan,
    options=st.builds(Options, command=st.lists(texts, max_size=2), levers=st.dictionaries(texts, texts, max_size=2)),
    arms=st.lists(st.builds(Arm, texts, st.sampled_from(["base", "lever", "user"])), max_size=2),
)
failures = st.dictionaries(texts, st.builds(Failure, texts, texts, texts), max_size=2)


def envelopes_of(
    kind: type[files.File], plan: st.SearchStrategy[object], **more: st.SearchStrategy[object]
) -> st.SearchStrategy[files.File]:
    return st.builds(
        kind,
        tool=st.builds(Tool, texts, texts, texts),
        machine=facts,
        plan=plan,
        records=st.lists(records(), max_size=3),
        finished=st.booleans(),
        **more,
    )


reproductions = st.builds(
    ReproducePlan,
    command=st.lists(texts, max_size=2),
    quick=st.booleans(),
    lab=st.dictionaries(texts, st.builds(ExperimentRun, texts, st.integers(0, 9)), max_size=2),
    benches=facts,
    missing=st.dictionaries(texts, texts, max_size=2),
)
envelopes = st.one_of(
    envelopes_of(TryFile, plans, verdicts=st.lists(verdicts, max_size=2), failures=failures),
    envelopes_of(BenchFile, st.builds(BenchPlan, options=st.lists(texts, max_size=2), benches=facts)),
    envelopes_of(ReproduceFile, reproductions, compared=st.lists(comparisons, max_size=2)),
)
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def three_parts(error: OkosuError) -> None:
    lines = str(error).split("\n")
    assert [line.split(":")[0] for line in lines] == ["okosu", "  why", "  fix"]
    assert all(line.split(":", 1)[1].strip() for line in lines)
    assert error.status == 1


def read_error(path: Path) -> OkosuError:
    with pytest.raises(OkosuError) as caught:
        files.read(path)
    three_parts(caught.value)
    return caught.value


@in_one_folder
@given(envelope=envelopes)
def test_what_is_written_comes_back(envelope: files.File, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    files.write(envelope, path)
    assert files.read(path) == envelope
    assert names(tmp_path) == ["a.json"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_every_truncation_is_named_by_its_byte(tmp_path: Path) -> None:
    data = FIXTURE.read_bytes()
    path = tmp_path / "cut.json"
    # The last byte is the final newline, and the file is valid without it.
    for length in range(len(data) - 1):
        path.write_bytes(data[:length])
        error = read_error(path)
        if b'"okosu.' in data[:length]:
            assert f"byte {length} of {length}" in error.what


@in_one_folder
@given(at=st.integers(0, FIXTURE.stat().st_size - 1), byte=st.integers(0, 255), seed=st.randoms())
def test_changed_bytes_never_end_in_a_traceback(at: int, byte: int, seed: object, tmp_path: Path) -> None:
    data = bytearray(FIXTURE.read_bytes())
    data[at] = byte
    data[seed.randrange(len(data))] = seed.randrange(256)  # type: ignore[attr-defined]
    path = tmp_path / "changed.json"
    path.write_bytes(data)
    try:
        files.read(path)
    except OkosuError as error:
        three_parts(error)


@in_one_folder
@given(data=st.binary(max_size=40) | st.text(max_size=40).map(str.encode) | st.just(b"[" * 100_000))
def test_any_bytes_at_all(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "any.json"
    path.write_bytes(data)
    read_error(path)


@pytest.mark.parametrize(
    ("change", "what", "why"),
    [
        ({"schema": "okosu.try/9", "tool": {"version": "7.3"}}, "okosu.try/9", "okosu 7.3"),
        ({"schema": "okosu.try/9", "tool": None}, "okosu.try/9", "another version"),
        ({"schema": "perfgate.run.v1"}, "not a records file", "perfgate.run.v1"),
        ({"schema": None}, "not a records file", "no schema"),
        ({"plan": []}, "schema says", "$.plan"),
        ({"schema": "okosu.try/1"}, "okosu.try/1", "okosu 0.1.0"),
        ({"failures": {"a": ["NOT APPLIED", "why"]}}, "schema says", "$.failures[...]"),
        ({"verdicts": [{"arm": 1}]}, "schema says", "$.verdicts[0].arm"),
    ],
)
def test_other_files(change: dict[str, object], what: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps({**json.loads(FIXTURE.read_text()), **change}))
    error = read_error(path)
    assert what in error.what
    assert why in error.why


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("samples", [1.0, "x"], "$.records[0].samples[1]"),
        ("rounds", [1], "$.records[0].rounds"),
        ("parts", [1], "$.records[0].parts"),
        ("predecessor", ["base"], "$.records[0].predecessor"),
        ("variant", "two names", "$.records[0]"),
        ("stage", "warming up", "$.records[0].stage"),
    ],
)
def test_wrong_fields_are_named_by_their_path(field: str, value: object, place: str, tmp_path: Path) -> None:
    content = json.loads(FIXTURE.read_text())
    content["records"][0][field] = value
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(content))
    assert place in read_error(path).why


def test_missing_folder_and_unreadable_paths(tmp_path: Path) -> None:
    assert "No such file" in read_error(tmp_path / "none.json").why
    assert "directory" in read_error(tmp_path).why


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    envelope = files.read(FIXTURE)
    files.write(envelope, path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OkosuError, match="not written") as caught:
        files.write(msgspec.structs.replace(envelope, finished=False), path)
    three_parts(caught.value)
    assert "No space" in caught.value.why
    assert path.read_bytes() == before
    assert names(tmp_path) == ["a.json"]


def test_an_interrupted_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write(files.read(FIXTURE), tmp_path / "a.json")
    assert names(tmp_path) == []


def test_a_file_that_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    envelope = files.read(FIXTURE)
    envelope.records[0].samples[0] = float("nan")
    with pytest.raises(OkosuError, match="not written") as caught:
        files.write(envelope, tmp_path / "a.json")
    assert "$.records[0].samples[0]" in caught.value.why
    assert names(tmp_path) == []


def test_a_device_is_not_replaced_and_a_link_is_followed(tmp_path: Path) -> None:
    envelope = files.read(FIXTURE)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OkosuError, match="not written"):
        files.write(envelope, tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files.write(envelope, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert files.read(tmp_path / "real") == envelope


def test_the_default_path_never_names_a_file_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(files.time, "strftime", lambda _: "20261102-030405")
    seen = []
    for _ in range(3):
        path = files.default_path("try", "./bin/my app --flag 'a b'")
        assert not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        seen.append(path.relative_to(tmp_path).as_posix())
    assert seen == [f"okosu/try-20261102-030405-my{end}.json" for end in ("", "-2", "-3")]


@given(subject=st.text(max_size=300))
def test_any_subject_makes_a_plain_file_name(subject: str) -> None:
    path = files.default_path("try", subject)
    assert path.is_absolute()
    assert path.name.isascii()
    assert path.name.isprintable()
    assert not set(path.name) & set(" /'\"*$`\\")
    assert len(path.name) < 100


def test_a_relative_state_home_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert files.default_path("try", "true").parent == Path.home() / ".local/state/okosu"


def test_a_file_of_another_kind_is_refused_where_a_trial_is_wanted(tmp_path: Path) -> None:
    files.write(BenchFile(tool=Tool("okosu", "0", ""), machine={}, plan=BenchPlan()), tmp_path / "bench.json")
    with pytest.raises(OkosuError, match="not a file of `okosu try`") as caught:
        files.read_as(TryFile, tmp_path / "bench.json")
    three_parts(caught.value)
    assert files.read_as(TryFile, FIXTURE).schema == "okosu.try/3"


@given(record=records())
def test_each_sample_has_a_place(record: Record) -> None:
    assert [(place.round, place.part) for place in record.places()] == list(
        zip(record.rounds, record.parts or [0] * len(record.samples), strict=True)
    )
