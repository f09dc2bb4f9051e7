# SPDX-License-Identifier: Apache-2.0
"""What `okosu try` prints at its end: whole texts, 80 columns whatever the numbers are, and no arm left out."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sim import session

from okosu.cli import _options, _table
from okosu.records.types import Arm, Later, Record, TryFile, Verdict
from okosu.report import export, view

NAMES = st.text("abcdefghij+=-:", min_size=1, max_size=60)
RATIOS = st.floats(1e-3, 9999)


def trial(verdicts: list[Verdict], kind: str = "lever", warm_kb: int = 0, **options: Any) -> TryFile:
    made = session(**options)
    made.plan.pilot_s, made.plan.warm_kb = 1.0, warm_kb
    kinds = {v.arm: "placebo" if v.arm == "placebo" else kind for v in verdicts}
    made.plan.arms = [Arm("base", "base"), *(Arm(name, of) for name, of in kinds.items())]  # type: ignore[arg-type]
    made.envelope.verdicts, made.envelope.finished = verdicts, True
    return made.envelope


def measured(arm: str, verdict: str, ratio: float, half: float, wins: int, rounds: int, **more: Any) -> Verdict:
    base = more.pop("base_value", 3.5512)
    return Verdict(
        arm=arm,
        verdict=verdict,
        ratio=ratio,
        interval=(ratio - half, ratio + half),
        wins=wins,
        rounds=rounds,
        value=base * ratio,
        base_value=base,
        **more,
    )


WON = measured(
    "superpage", "FASTER", 0.3757, 0.05, 16, 16, headline=True, applied=True, options=["--superpage=thp"],
    proof="99 % on huge pages", decided=7, later=Later(0.37, 9, 9),
)  # fmt: skip
PLACEBO = measured("placebo", "UNRESOLVED", 1.002, 0.005, 14, 30)
OPEN = measured("retain", "UNRESOLVED", 0.99, 0.019, 17, 30, applied=True)
NUMA = Verdict(arm="numa", verdict="UNAVAILABLE", why="one node", fix="two nodes")
PREZERO = Verdict(arm="prezero", verdict="UNAVAILABLE", why="no daemon")


def test_the_whole_text_of_a_trial_with_a_winner() -> None:
    text = _table.render(trial([WON, PLACEBO, OPEN, NUMA, PREZERO], warm_kb=4096))
    assert text == textwrap.dedent("""\
        superpage: 3.55 s -> 1.33 s: 2.66x faster (2.3x to 3.1x), won 16 of 16 rounds, memory warmed
        Known after round 7; the rounds since then alone: 2.70x faster, won 9 of 9.

        arm        median  change        interval           won  applied  verdict
        base       3.55 s
        superpage  1.33 s  2.66x faster  2.3x to 3.1x     16/16  yes      FASTER*
        retain     3.52 s  1.0 % faster  -0.9 % to 3.0 %  17/30  yes      UNRESOLVED

        superpage: effect: 99 % on huge pages

        unavailable here: numa, prezero (okosu doctor -- ./app explains)
        Noise of this place: 0.20 % slower (-0.30 % to 0.70 %) in 30 rounds with okosu's
        library loaded and inert (placebo).

        Median time of an arm's runs; the change is the median of arm against base in
        the same round. 95 % interval; it holds whenever the trial stops. 30 rounds;
        seed 7; smallest effect of interest 1 %.""")


@pytest.mark.parametrize(
    ("verdicts", "line"),
    [
        ([OPEN], "undecided after 30 rounds: no lever is better than 3 %"),
        ([OPEN, measured("pin", "SLOWER", 1.5, 0.1, 0, 9)], "undecided after 30 rounds: no lever is better than 3 %"),
        ([measured("pin", "UNRESOLVED", 1.0, 0.3, 2, 4)], "undecided after 4 rounds: the fewest that can decide are 6"),
        (
            [measured("pin", "SAME", 1.001, 0.004, 9, 20), measured("retain", "SAME", 1.0, 0.004, 9, 20)],
            "no lever is better than 0.5 % (20 rounds)",
        ),
        (
            [measured("pin", "SAME", 1.001, 0.004, 9, 20)],
            "pin: the same within 1 %: 3.551 s -> 3.555 s: 0.10 % slower (-0.30 % to 0.50 %), won 9 of 20 rounds",
        ),
        (
            [measured("pin", "SLOWER", 1.03, 0.01, 0, 9), NUMA],
            "pin: 3.55 s -> 3.66 s: 3.0 % slower (2.0 % to 4.0 %), won 0 of 9 rounds",
        ),
        (
            [measured("pin", "SLOWER", 1.03, 0.01, 0, 9), measured("copy", "SLOWER", 1.5, 0.1, 0, 9)],
            "no lever is better: each is slower",
        ),
        (
            [Verdict(arm="copy", verdict="CANNOT MATTER", bound=0.004), NUMA],
            "no lever is better than 0.5 %, by arithmetic: no round was run",
        ),
        ([OPEN, Verdict(arm="copy", verdict="CANNOT MATTER", bound=0.05)],
         "undecided after 30 rounds: no lever is better than 5.3 %"),
        ([NUMA], "nothing was measured"),
        (
            [OPEN, Verdict(arm="pin", verdict="UNRESOLVED", why="not tried: a budget of 9s has room for 1 arm")],
            "undecided after 30 rounds: no lever that was tried is better than 3 %",
        ),
        (
            [OPEN, Verdict(arm="pin", verdict="UNRESOLVED", ratio=0.9, rounds=3, wins=3)],
            "undecided after 30 rounds: too few of pin, 6 can decide",
        ),
        ([measured("pin", "NOT CONFIRMED", 0.98, 0.03, 20, 30), OPEN],
         "undecided after 30 rounds: no lever is better than 5.3 %"),
    ],
)  # fmt: skip
def test_the_first_line_of_a_trial_without_a_winner(verdicts: list[Verdict], line: str) -> None:
    assert _table.render(trial(verdicts)).splitlines()[0] == line


@pytest.mark.parametrize(
    ("options", "base", "line"),
    [
        ({"metric": "rss"}, 2048.0, "pin: 2.00 GiB -> 769 MiB: 62 % less memory (57 % to 67 %), won 16 of 16 rounds"),
        ({"metric": "cpu"}, 3.5512, "pin: 3.55 s -> 1.33 s: 62 % less CPU time (57 % to 67 %), won 16 of 16 rounds"),
        (
            {"metric": "regex", "pattern": "(.)"},
            90.0,
            "pin: 90.0 -> 33.8: 62 % less (57 % to 67 %), won 16 of 16 rounds",
        ),
    ],
)
def test_no_other_metric_than_time_is_faster(options: dict[str, str], base: float, line: str) -> None:
    best = measured("pin", "FASTER", 0.3757, 0.05, 16, 16, headline=True, base_value=base)
    text = _table.render(trial([best], **options))
    assert text.splitlines()[0] == line
    assert "BETTER*" in text
    assert not {"faster", "slower", "FASTER", "SLOWER"} & set(text.replace("*", " ").split())


def test_a_rate_is_told_as_the_program_tells_it() -> None:
    best = measured("pin", "FASTER", 0.5, 0.05, 16, 16, headline=True)
    best.base_value, best.value = 1000.0, 2000.0
    text = _table.render(trial([best], metric="regex", pattern="(.)", better="higher"))
    assert text.startswith("pin: 1000 -> 2000: 2.00x more (1.8x to 2.2x), won 16 of 16 rounds\n")


def test_a_command_of_the_user_that_is_undecided_is_named() -> None:
    vs = measured("vs", "UNRESOLVED", 1.004, 0.012, 14, 30)
    line = "undecided after 30 rounds: vs: 3.55 s -> 3.57 s: 0.40 % slower (-0.8 % to 1.6 %)"
    assert _table.render(trial([vs], kind="user")).splitlines()[0] == line


def test_what_the_budget_had_no_room_for_and_what_cannot_matter_is_told_shortly() -> None:
    late = [
        Verdict(arm=arm, verdict="UNRESOLVED", why="not tried: a budget of 60s has room for 1 arm", fix="--budget 4m")
        for arm in ("pin", "retain")
    ]
    slow = Verdict(arm="numa", verdict="UNRESOLVED", why="not judged: slow in the pilot", fix="--levers numa judges it")
    copy = Verdict(arm="copy", verdict="CANNOT MATTER", bound=0.004, why="it copied 3 MiB")
    lines = _table.render(trial([WON, *late, slow, copy])).splitlines()
    assert lines[3:10] == [
        "arm        median  change         interval        won  applied  verdict",
        "base       3.55 s",
        "superpage  1.33 s  2.66x faster   2.3x to 3.1x  16/16  yes      FASTER*",
        "copy            –  at most 0.5 %                    –  –        CANNOT MATTER",
        "",
        "superpage: effect: 99 % on huge pages",
        "copy: why: it copied 3 MiB",
    ]
    assert "pin, retain: not tried: a budget of 60s has room for 1 arm; --budget 4m" in lines
    assert "numa: not judged: slow in the pilot; --levers numa judges it" in lines


def test_a_run_that_is_mostly_the_start_of_a_process_is_warned_of() -> None:
    file = trial([OPEN])
    file.plan.base_s = 0.0013
    said = " ".join(_table.render(file).split())
    assert "A run takes 1.30 ms, mostly the start of a process: give the program more to do" in said


def run_with(values: dict[str, list[float]], arm: str, file: TryFile) -> None:
    for metric, samples in values.items():
        unit = {"rss": "MiB", "minflt": "faults"}.get(metric, "s")
        order = list(range(len(samples)))
        file.records.append(
            Record(
                tool="t", machine="m", subject="x", lever=arm, metric=metric, unit=unit, samples=samples, rounds=order
            )
        )


def test_the_wide_table_has_what_each_arm_used() -> None:
    file = trial([WON])
    run_with({"user": [3.0, 3.2, 3.1], "sys": [0.4] * 3, "rss": [512.0] * 3, "minflt": [131072.0] * 3}, "base", file)
    run_with({"user": [1.2] * 3, "sys": [0.01] * 3, "rss": [514.0] * 3, "minflt": [300.0] * 3}, "superpage", file)
    head, base, best = _table.render(file, wide=True).splitlines()[3:6]
    assert head.split()[-4:] == ["user", "sys", "faults", "RSS"]
    assert base.endswith("3.10 s   400 ms  131 072  512 MiB")
    assert best.endswith("1.20 s  10.0 ms      300  514 MiB")


def test_an_arm_that_only_waiting_for_a_cpu_leaves_undecided_is_named() -> None:
    file = trial([measured("pin", "UNRESOLVED", 1.0, 0.3, 9, 20)])
    waits = [0.5 + 0.07 * (i * 7 % 20) for i in range(20)]
    run_with({"wall": [2.0 + wait for wait in waits], "delay": waits}, "base", file)
    run_with({"wall": [1.8 + wait for wait in reversed(waits)], "delay": waits[::-1]}, "pin", file)
    said = " ".join(_table.render(file).split())
    assert "pin: base waited for a CPU for 37 % of its time; without these waits it would be FASTER here" in said
    assert "--metric cpu" in said


def test_a_lever_that_was_asked_for_is_not_folded() -> None:
    text = _table.render(trial([OPEN, NUMA], levers={"retain": "", "numa": "bind:0"}))
    assert "numa: why: one node" in text
    assert "numa: fix: two nodes" in text
    assert "unavailable here" not in text


@given(
    st.lists(
        st.builds(
            lambda arm, verdict, ratio, spread, rounds, headline: Verdict(
                arm=arm,
                verdict=verdict,
                ratio=ratio,
                interval=(ratio / spread, ratio * spread),
                rounds=rounds,
                wins=rounds,
                value=ratio,
                base_value=1.0,
                headline=headline,
                applied=True,
                why="because of this " * 9,
                proof="seen " * 40,
            ),
            NAMES,
            st.sampled_from(_options.VERDICTS),
            RATIOS,
            st.floats(1, 9),
            st.integers(0, 999),
            st.booleans(),
        ),
        max_size=6,
        unique_by=lambda v: v.arm,
    )
)
def test_only_the_first_line_may_be_wider_than_80_columns(verdicts: list[Verdict]) -> None:
    text = _table.render(trial(verdicts))
    assert max(map(len, text.splitlines()[1:])) <= 80
    for v in verdicts:
        assert v.verdict in text or v.verdict == "UNAVAILABLE"


def test_a_trial_interrupted_in_its_pilot_claims_nothing() -> None:
    assert _table.render(session().envelope).startswith("nothing is decided yet: the pilot did not end\n")


def test_the_table_the_readme_and_the_page_show_the_same_cells() -> None:
    file = trial([WON])
    _, row = view.of(file).rows
    text, markdown = " ".join(_table.render(file).split()), export.as_markdown(file)
    for cell in (row.arm, row.median, row.change, row.interval, row.won, row.verdict):
        shown = cell.replace("\N{NARROW NO-BREAK SPACE}", " ")
        assert shown in text
        assert f"| {shown} |" in markdown
