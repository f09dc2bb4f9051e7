# SPDX-License-Identifier: Apache-2.0
"""Any file that is valid by its schema, however little sense it makes, becomes a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from effort import length
from hypothesis import given, settings
from hypothesis import strategies as st

from okosu.records.files import File
from okosu.records.types import (
    Arm,
    BenchFile,
    BenchPlan,
    Options,
    Plan,
    Record,
    ReproduceFile,
    ReproducePlan,
    Tool,
    TryFile,
    Verdict,
)

pytest.importorskip("matplotlib")
from okosu.report import page

names = st.sampled_from(["base", "placebo", "pin", "superpage", "own"])
numbers = st.floats(-1, 1e6) | st.sampled_from([0.0, 1.0, 5e-324, 1e-300, 1e300])
words = st.text(max_size=3)
anything = (
    st.none()
    | numbers
    | st.integers()
    | words
    | st.lists(words, max_size=2)
    | st.dictionaries(words, words, max_size=2)
)
plan_keys = ["command", "options", "seed", "benches"]
machine_keys = ["memory_kb", "state_before", "state_after", "state_rounds", "caches"]


@st.composite
def records(draw: st.DrawFn) -> Record:
    count = draw(st.integers(0, 12))
    name = draw(names)
    return Record(
        tool="t",
        machine="m",
        subject="s",
        lever="" if name == "own" else name,
        variant=name if name == "own" else "",
        stage=draw(st.sampled_from(["pilot", "rounds", "bench"])),
        metric=draw(st.sampled_from(["wall", "cpu", "rss", "judged", "other"])),
        unit=draw(st.sampled_from(["s", "MiB", "faults", ""])),
        samples=draw(st.lists(numbers, min_size=count, max_size=count)),
        rounds=draw(st.lists(st.integers(0, 40), min_size=count, max_size=count)),
        parts=draw(st.just([]) | st.lists(st.integers(0, 3), min_size=count, max_size=count)),
        predecessor=draw(st.lists(names, min_size=count, max_size=count)),
    )


verdicts = st.builds(
    Verdict,
    arm=names,
    verdict=st.sampled_from(["FASTER", "SAME", "UNAVAILABLE", "SLOWER", "UNHEARD OF"]),
    ratio=st.none() | numbers,
    interval=st.none() | st.tuples(numbers, numbers),
    headline=st.booleans(),
    rounds=st.integers(0, 9),
    rounds_needed=st.none() | st.integers(0, 99),
    minutes_needed=st.none() | numbers,
)
options = st.builds(
    Options,
    command=st.lists(words, max_size=2),
    metric=st.sampled_from(["wall", "cpu", "rss", "regex"]),
    alpha=st.floats(0.001, 0.999),
    min_effect=st.floats(0, 0.999),
    budget_s=numbers,
    levers=st.dictionaries(words, words, max_size=2),
    user_arms=st.dictionaries(words, st.dictionaries(words, words, max_size=2), max_size=2),
)
plans = st.builds(
    Plan,
    options=options,
    arms=st.lists(st.builds(Arm, names, st.sampled_from(["base", "placebo", "lever", "user", "stack"])), max_size=4),
    k=st.integers(0, 9),
    pilot_s=st.sampled_from([0.0, 1.0]),
)
common = {
    "tool": st.builds(Tool, words, words, words),
    "machine": st.dictionaries(st.sampled_from(machine_keys), anything, max_size=3),
    "records": st.lists(records(), max_size=4),
    "finished": st.booleans(),
}
trials = st.builds(
    TryFile,
    plan=plans,
    verdicts=st.lists(verdicts, max_size=3),
    **common,  # type: ignore[arg-type]
)
asked = st.builds(
    BenchPlan,
    command=st.lists(words, max_size=2),
    options=st.lists(words, max_size=3),
    benches=st.dictionaries(words, anything, max_size=2),
)
benches = st.builds(BenchFile, plan=asked, **common)  # type: ignore[arg-type]
reproduced = st.builds(
    ReproducePlan, command=st.lists(words, max_size=2), benches=st.dictionaries(words, anything, max_size=2)
)
reproductions = st.builds(ReproduceFile, plan=reproduced, **common)  # type: ignore[arg-type]


@settings(max_examples=length(13, 40))
@given(envelope=trials | benches | reproductions)
def test_any_file_becomes_a_page(envelope: File) -> None:
    text = page.render([(Path("any.json"), envelope)])
    assert text.endswith("</html>")
    if isinstance(envelope, TryFile):
        # Base is what the others are compared with, and the placebo a note on the noise of the place.
        no_rows = {"placebo", *(arm.name for arm in envelope.plan.arms if arm.kind in ("base", "placebo"))}
        assert all(verdict.arm in text or verdict.arm in no_rows for verdict in envelope.verdicts)
