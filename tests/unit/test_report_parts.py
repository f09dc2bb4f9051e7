# SPDX-License-Identifier: Apache-2.0
"""The parts below the page: number formats, ticks, pairing, the interval over rounds, command lines, the command."""

from __future__ import annotations

import builtins
import math
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.cli.main import dispatch
from okosu.errors import OkosuError
from okosu.records import files
from okosu.records.types import Options, Verdict
from okosu.report import axes, commands, formats, model, view, words

DATA = Path(__file__).parents[1] / "data"
sys.path.insert(0, str(DATA))
import synthetic  # noqa: E402

FIXTURE = DATA / "try-small.json"


def plain(text: str) -> str:
    return text.replace("\N{NARROW NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.14159, "s", "3.14 s"), (0.0123456, "s", "12.3 ms"), (4.2e-5, "s", "42.0 µs"), (0.0, "s", "0 s"),
        (75.0, "s", "75.0 s"), (1200.0, "s", "20.0 min"), (4110.0, "MiB", "4.01 GiB"), (0.5, "MiB", "512 KiB"),
        (1049112.0, "faults", "1 049 112"), (2.5, "GB/s", "2.50 GB/s"), (1234567.0, "", "1 234 567"), (7.0, "", "7.00"),
    ],
)  # fmt: skip
def test_quantities(value: float, unit: str, text: str) -> None:
    assert plain(formats.quantity(value, unit)) == text


@pytest.mark.parametrize(
    ("ratio", "interval", "text", "bounds"),
    [
        (0.07004, (0.0642, 0.0764), "0.070", "0.064 – 0.076"),
        (1.0003, (0.9991, 1.0013), "1.0003", "0.9991 – 1.0013"),
        (0.658, (0.641, 0.674), "0.658", "0.641 – 0.674"),
        (2.5, (0.5, 14.0), "2.50", "0.50 – 14.00"),
        (0.5, None, "0.500", "–"),
        (1.0, (1.0, 1.0), "1.000", "1.000 – 1.000"),
        (None, None, "–", "–"),
    ],
)
def test_ratios_have_the_digits_that_their_interval_allows(
    ratio: float | None, interval: tuple[float, float] | None, text: str, bounds: str
) -> None:
    assert formats.ratio(ratio, interval) == text
    assert plain(formats.bounds(interval)) == bounds


@pytest.mark.parametrize(
    ("verdict", "ratio", "interval", "why", "text"),
    [
        ("FASTER", 0.8674, (0.8421, 0.9028), "", "1.48 s -> 1.28 s: 15 % faster (11 % to 19 %)"),
        ("SLOWER", 1.06, (1.02, 1.10), "", "1.48 s -> 1.28 s: 6.0 % slower (2 % to 10 %)"),
        ("SAME", 1.0014, (0.9832, 1.0179), "", "SAME: 0.14 % slower (-1.7 % to 1.8 %)"),
        ("NOT APPLIED", None, None, "glibc: no; thp: no", "NOT APPLIED (glibc: no)"),
    ],
)
def test_a_verdict_in_one_line(
    verdict: str, ratio: float | None, interval: tuple[float, float] | None, why: str, text: str
) -> None:
    made = Verdict(
        arm="a", verdict=verdict, ratio=ratio, interval=interval, why=why, rounds=9, base_value=1.48, value=1.28
    )
    assert plain(view.outcome(made, words.words("wall"))) == text


@given(st.floats(1e-12, 1e12), st.integers(1, 6))
def test_significant_digits_stay_close(value: float, digits: int) -> None:
    assert math.isclose(float(formats.significant(value, digits)), value, rel_tol=0.5 * 10 ** (1 - digits) * 1.001)


@given(st.text(max_size=80), st.integers(3, 40))
def test_shortened_and_printable_text(text: str, most: int) -> None:
    short = formats.shorten(text, most)
    assert len(short) <= most
    assert short == text or (text.startswith(short.split("…")[0]) and len(text) > most)
    shown = formats.printable(text)
    assert all(c.isprintable() or c.isspace() for c in shown)
    assert formats.printable(shown) == shown


@given(st.floats(1e-3, 1e3), st.floats(1.0005, 1e4), st.integers(3, 8))
def test_ticks_of_ratios_are_few_inside_and_told_apart(low: float, spread: float, most: int) -> None:
    high = low * spread
    ticks = axes.ratio_ticks(low, high, most)
    assert len(ticks) <= most + 1
    assert all(low * 0.999999 <= tick <= high * 1.000001 for tick in ticks)
    assert ticks == sorted(set(ticks))
    texts = axes.tick_texts(ticks)
    assert len(set(texts)) == len(ticks)
    assert all(math.isclose(float(text), tick, rel_tol=1e-9) for text, tick in zip(texts, ticks, strict=True))
    if low < 1 < high and spread > 4:
        assert 1.0 in ticks


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e3), st.integers(2, 8))
def test_linear_ticks_are_few_and_inside(low: float, share: float, most: int) -> None:
    span = share * max(1.0, abs(low))
    ticks = axes.linear_ticks(low, low + span, most)
    assert len(ticks) <= most + 1
    assert ticks
    assert all(low - span * 1e-6 <= tick <= low + span * (1 + 1e-6) for tick in ticks)


def test_rounds_pair_with_the_base_of_the_same_round_only() -> None:
    envelope = synthetic.small()
    base, retain = envelope.records
    base.rounds, base.parts, base.samples = [0, 1, 1, 2], [0, 0, 1, 0], [2.0, 4.0, 5.0, 8.0]
    base.order, base.predecessor = [], []
    retain.rounds, retain.parts, retain.samples = [1, 0, 3, 2], [1, 0, 0, 0], [2.5, 1.0, 9.0, 0.0]
    retain.order, retain.predecessor = [], []
    trial = model.load(envelope)
    # Round 3 has no base, and 0.0 has no logarithm; part 1 of round 1 is the third that was run.
    assert trial.pairs("retain") == [model.Pair(1, 1.0, 2.0), model.Pair(3, 2.5, 5.0)]
    assert math.isclose(trial.pairs("retain")[0].x, math.log(0.5))


def test_the_running_interval_is_that_of_the_published_table() -> None:
    # The ranks of the anytime 95 % interval for one arm; below 6 rounds there is none.
    pairs = [model.Pair(n, math.exp(n), 1.0) for n in range(1, 31)]
    found = {one.round: one for one in model.running(pairs, 1, 0.05)}
    assert min(found) == 6
    for n, rank in ((6, 1), (12, 1), (13, 2), (17, 3), (20, 4), (30, 7)):
        assert math.isclose(math.log(found[n].low), rank)
        assert math.isclose(math.log(found[n].high), n + 1 - rank)
        assert math.isclose(math.log(found[n].ratio), (n + 1) / 2)


def test_very_many_rounds_are_thinned_and_the_last_kept() -> None:
    pairs = [model.Pair(n, 1.0 + n % 7, 1.0) for n in range(1, 1002)]
    found = model.running(pairs, 1, 0.05)
    assert len(found) < 200
    assert found[-1].round == 1001


def test_base_by_predecessor() -> None:
    envelope = synthetic.small()
    base = envelope.records[0] if envelope.records[0].lever == "base" else envelope.records[1]
    base.samples, base.rounds, base.order = [1.0, 2.0, 3.0], [0, 1, 2], [0, 2, 4]
    base.predecessor = ["", "retain", "base"]
    assert model.load(envelope).by_predecessor() == {"base": [3.0], "retain": [2.0]}


def test_commands_are_quoted_for_the_shell() -> None:
    envelope = synthetic.win()
    envelope.plan.options = Options(
        command=["./my app", "it's", "$HOME"], seed=3, levers={"superpage": "", "pin": "list:0,1"},
        user_arms={"own": {"A": "x y", "B": "1"}}, budget_s=7200.0, timeout_s=90.5, metric="regex",
        pattern="rate=(.*)", better="higher", check="grep -q ok", children=False, warm=False, min_rounds=11,
    )  # fmt: skip
    words = shlex.split(commands.again(envelope))
    assert words[:2] == ["okosu", "try"]
    assert words[words.index("--") + 1 :] == ["./my app", "it's", "$HOME"]
    for pair in (
        ["--seed", "3"], ["--levers", "superpage,pin=list:0,1"], ["--budget", "2h"], ["--timeout", "90.5s"],
        ["--metric", "regex:rate=(.*)"], ["--better", "higher"], ["--check", "grep -q ok"], ["--children", "0"],
        ["--min-rounds", "11"],
    ):  # fmt: skip
        assert words[words.index(pair[0]) + 1] == pair[1]
    own = words[words.index("--arm") + 1]
    assert shlex.split(own.partition("=")[2]) == ["A=x y", "B=1"]
    assert "--no-warm" in words
    best = next(v for v in envelope.verdicts if v.headline)
    assert shlex.split(commands.use(envelope, best))[-4:] == ["--", "./my app", "it's", "$HOME"]
    assert "--children=0" in commands.use(envelope, best)


def test_the_command_writes_beside_its_file_and_prints_the_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    source = tmp_path / "a trial.json"
    source.write_bytes(FIXTURE.read_bytes())
    assert dispatch(["report", str(source)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'a trial.html'}\n"
    first = (tmp_path / "a trial.html").read_text()
    assert dispatch(["report", str(source), "-o", str(tmp_path / "b.html")]) == 0
    assert (tmp_path / "b.html").read_text() == first


@pytest.mark.parametrize("absent", ["jinja2", "matplotlib"])
def test_what_to_install_is_said(absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == absent:
            raise ImportError(f"No module named {absent!r}", name=absent)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    from okosu.report import page

    with pytest.raises(OkosuError, match=absent) as caught:
        page.render([(FIXTURE, files.read(FIXTURE))])
    assert caught.value.fix == "pip install 'okosu[report]'"
    assert caught.value.status == 1
