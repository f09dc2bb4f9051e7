# SPDX-License-Identifier: Apache-2.0
"""The page as an HTML parser sees it: everything is there and escaped, and nothing is loaded from outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
import synthetic

from okosu.records.files import File
from okosu.records.types import Arm, BenchFile, BenchPlan, Options, Plan, Proof, Record, Tool, TryFile, Verdict
from okosu.report import page, words

VOID = {"meta", "link", "br", "img", "input", "hr", "path", "use", "rect"}
HOSTILE = "<script>alert('x')</script>&\"<b>$\\frac{\x1b[2J\u202e"


class Page(HTMLParser):
    """The visible text, the tags, every address, and a complaint for each tag out of place."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at line {self.getpos()[0]}")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


def render(*named: tuple[str, File]) -> str:
    return page.render([(Path(f"{name}.json"), envelope) for name, envelope in named])


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: render((name, make())) for name, make in synthetic.ALL.items()}


@pytest.mark.parametrize("name", sorted(synthetic.ALL))
def test_the_page_is_well_formed_and_asks_for_nothing(name: str, pages: dict[str, str]) -> None:
    text = pages[name]
    seen = Page(text)
    assert seen.wrong == []
    assert seen.open == []
    for _, attributes in seen.tags:
        for key in ("src", "href", "xlink:href", "action", "data", "srcset", "poster"):
            assert (attributes.get(key) or "#").startswith(("#", "data:"))
    assert not re.search(r"@import|url\((?!#)", text)
    assert len(text.encode()) < 300_000
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)
    assert script
    assert len(script[1]) < 3_000


@pytest.mark.parametrize("name", sorted(synthetic.ALL))
def test_ids_are_unique_and_every_reference_has_its_target(name: str, pages: dict[str, str]) -> None:
    tags = Page(pages[name]).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    wanted = {(a.get("href") or "")[1:] for _, a in tags if (a.get("href") or "").startswith("#")}
    wanted |= {word for _, a in tags for word in (a.get("aria-labelledby") or a.get("headers") or "").split()}
    wanted |= set(re.findall(r"url\(#([^)]+)\)", pages[name]))
    assert wanted <= set(ids)


@pytest.mark.parametrize("name", sorted(synthetic.ALL))
def test_every_arm_and_verdict_is_there_and_charts_and_tables_can_be_heard(name: str, pages: dict[str, str]) -> None:
    seen = Page(pages[name])
    envelope = synthetic.ALL[name]()
    said = words.of(envelope.plan.options)
    for verdict in envelope.verdicts:
        assert verdict.arm in seen.text
        assert verdict.arm == "placebo" or said.verdict(verdict.verdict) in seen.text
        assert verdict.why in seen.text
        assert verdict.fix in seen.text
    for record in envelope.records:
        assert (record.lever or record.variant) in seen.text
    assert all(attributes.get("scope") for tag, attributes in seen.tags if tag == "th")
    assert all(attributes.get("aria-label") for tag, attributes in seen.tags if tag == "svg")
    assert [tag for tag, _ in seen.tags].count("h1") == 1


def test_the_headline_is_the_recommended_arm_with_its_ratio_and_the_line_to_type(pages: dict[str, str]) -> None:
    best = next(v for v in synthetic.win().verdicts if v.headline)
    seen = Page(pages["win"]).text
    assert best.ratio
    assert "superpage+pin=compact: 3.09 s -> 1.98 s: " in seen
    assert f"{1 / best.ratio:.2f}x faster (1.54x to 1.60x), won 34 of 34 rounds, memory warmed" in seen
    assert "okosu run --superpage=thp --pin=compact -- ./examples/chase 4G --steps 20000000" in seen
    assert "--seed 7 --levers superpage,retain,pin=compact" in seen
    assert "--arm jemalloc=LD_PRELOAD=/usr/lib/libjemalloc.so.2" in seen
    assert "okosu try --revalidate win.json" in seen
    assert "AnonHugePages 4.00 GiB of 4.01 GiB" in seen


def test_a_trial_without_a_winner_says_so(pages: dict[str, str]) -> None:
    seen = Page(pages["nothing"]).text
    assert "undecided after 30 rounds: no lever is better than" in seen
    assert "okosu run" not in seen


def test_an_unfinished_file_says_how_far_it_came(pages: dict[str, str]) -> None:
    seen = Page(pages["unfinished"]).text
    assert "unfinished: 5 rounds" in seen
    assert "undecided after 5 rounds: the fewest that can decide are 7" in seen
    assert "NOT JUDGED YET" in seen


def test_very_small_and_very_close_ratios_keep_their_digits(pages: dict[str, str]) -> None:
    seen = Page(pages["extremes"]).text
    assert "92.98 % to 93.02 %" in seen
    assert "0.022 % less" in seen
    assert "BETTER" in seen
    assert "FASTER" not in seen
    assert "--metric 'regex:latency: ([0-9.]+) ms' --better lower" in seen


def hostile() -> TryFile:
    command = [HOSTILE, "</code></script><img src=//evil.example/x>", "日本語"]
    records = [
        Record(
            tool="t",
            machine="m",
            subject=HOSTILE,
            lever=arm,
            metric="wall",
            unit="s",
            note=HOSTILE,
            samples=[1.0, 1.1, 1.2],
            rounds=[0, 1, 1],
            parts=[0, 0, 1],
            order=[0, 1, 2],
            predecessor=["", HOSTILE, arm],
            proof=Proof(True, HOSTILE, {HOSTILE: 1.5}),
        )
        for arm in ("base", HOSTILE)
    ]
    verdict = Verdict(
        arm=HOSTILE,
        verdict=HOSTILE,
        options=[HOSTILE],
        ratio=0.5,
        interval=(0.4, 0.6),
        why=HOSTILE,
        fix=HOSTILE,
        headline=True,
    )
    options = Options(command=command, seed=1, check=HOSTILE, user_arms={HOSTILE: {HOSTILE: HOSTILE}})
    return TryFile(
        tool=Tool(HOSTILE, HOSTILE, HOSTILE),
        machine={HOSTILE: {HOSTILE: [HOSTILE, {HOSTILE: 1}]}},
        plan=Plan(options=options, pilot_s=1.0),
        records=records,
        verdicts=[verdict],
    )


def test_hostile_text_is_shown_and_never_obeyed() -> None:
    text = render((HOSTILE.replace("/", ""), hostile()))
    seen = Page(text)
    assert seen.wrong == []
    assert [tag for tag, _ in seen.tags].count("script") == 1
    assert not {"img", "b", "iframe"} & {tag for tag, _ in seen.tags if tag != "b"}
    assert "<b>$" not in text
    assert "evil.example" in seen.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)
    assert "\\x1b[2J" in seen.text


@pytest.mark.parametrize("arms", [[], [Arm("base", "base"), Arm("retain", "lever", {"retain": "on"})]])
def test_a_trial_that_has_hardly_begun_becomes_a_page(arms: list[Arm]) -> None:
    plan = Plan(options=Options(command=[]), arms=arms)
    tool = Tool("okosu", "0", "")
    assert "nothing is decided yet" in Page(render(("empty", TryFile(tool=tool, machine={}, plan=plan)))).text
    piloted = Plan(options=Options(command=[]), arms=arms, pilot_s=1.0)
    assert "nothing is measured yet" in Page(render(("empty", TryFile(tool=tool, machine={}, plan=piloted)))).text
    maker = synthetic.Maker(1, 1.0, ["x"])
    maker.rounds("rounds", 3, [synthetic.RETAIN])
    records = list(maker.records.values())
    for record in records:
        record.rounds, record.order, record.predecessor = [], [], []
    records[0].samples[0] = 0.0
    some = TryFile(tool=tool, machine={}, plan=piloted, records=records)
    assert "retain" in Page(render(("some", some))).text


def test_a_file_of_another_kind_becomes_a_table_of_its_records() -> None:
    record = Record(
        tool="t",
        machine="m",
        subject="copy",
        variant="nt",
        stage="bench",
        metric="rate",
        unit="GB/s",
        samples=[9.5, 10.5, 11.0],
    )
    bench = BenchFile(tool=Tool("okosu", "0", ""), machine={}, plan=BenchPlan(), records=[record], finished=True)
    seen = Page(render(("bench", bench))).text
    assert "10.5 GB/s" in seen
    assert "okosu run" not in seen


def test_many_arms_and_several_files() -> None:
    arms = [synthetic.Planted(f"pin=list:{i}", "lever", 1 + i / 50, [f"--pin=list:{i}"]) for i in range(12)]
    maker = synthetic.Maker(6, 0.2, ["many"])
    maker.rounds("rounds", 12, arms)
    many = maker.envelope(arms, [maker.verdict("rounds", arm, len(arms)) for arm in arms], True)
    seen = Page(render(("many", many), ("small", synthetic.small())))
    assert [tag for tag, _ in seen.tags].count("section") == 2
    assert all(f"pin=list:{i}" in seen.text for i in range(12))
    assert {"#s1", "#s2"} <= {attributes.get("href") for _, attributes in seen.tags}


def test_the_same_file_gives_the_same_bytes_in_another_process(pages: dict[str, str]) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]; import synthetic; from pathlib import Path;"
        "from okosu.report import page;"
        "sys.stdout.buffer.write(page.render([(Path('small.json'), synthetic.small())]).encode())"
    )
    folders = [str(Path(synthetic.__file__).parent), str(Path(page.__file__).parents[2])]
    done = subprocess.run(
        [sys.executable, "-c", code, *folders],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "9"},
    )
    assert done.stdout.decode() == pages["small"]
    assert done.stderr == b""
