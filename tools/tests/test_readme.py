# SPDX-License-Identifier: Apache-2.0
"""The documents' blocks and figures, filled from summaries; a missing summary is named."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from okosu.bench import rows
from okosu.records import summary
from okosu.records.summary import SUMMARY_SCHEMA, Row, Section, Source, Summary, spread
from okosu.records.types import Compared, ReproduceFile, ReproducePlan, Tool, Verdict
from okosu.trial.verdicts import MAY_BE_LESS
from papers.common.tests.rows import result, row
from papers.zero_offload.report import summary as engines

ROOT = Path(__file__).resolve().parents[2]
MIB2 = 2 << 20


@pytest.fixture
def tool() -> ModuleType:
    """tools/readme.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("readme", ROOT / "tools/readme.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def readme(tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The tool, made to look for summaries below an empty folder."""
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    return tool


def written(path: Path, **parts: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    source = Source(path.name, "okosu.reproduce/2", "0" * 64, 1)
    summary.write(Summary(schema=SUMMARY_SCHEMA, sources=[source], command="okosu …", **parts), path)  # type: ignore[arg-type]


def engine(path: Path, name: str, device: str, absent: str) -> None:
    """Write the summary of what `okosu reproduce zero-offload` measures of one engine."""
    made = [
        row("post", name, "okosu", [150.0] * 3, n=MIB2, items=1),
        row("complete", name, "okosu", [MIB2 / 50] * 3, n=MIB2, unit="ns", config=device, extra={"scanned": 45}),
        row("processor", name, "okosu", [MIB2 / 25] * 3, n=MIB2, unit="ns"),
    ]
    gone = [{"variant": absent, "why": "its driver is not there"}]
    kept = rows.records(result("zero-engines", made), "m")
    plan = ReproducePlan(benches={"zero-engines": {"absent": gone}})
    held = ReproduceFile(tool=Tool("okosu", "0", ""), machine={}, plan=plan, records=kept)
    written(path, sections=engines.sections(held))


def test_what_is_not_recorded_yet_is_named(readme: ModuleType) -> None:
    block = "x\n<!-- records: a/b.json d joined=engines -->\nold\n<!-- end -->\ny\n"
    filled = readme.fill(block)
    assert filled == block.replace("old\n", "\nNot recorded yet: `a/b.json`, `d`.\n")
    assert readme.fill(filled) == filled


def test_engines_of_several_machines_are_one_table(readme: ModuleType, tmp_path: Path) -> None:
    engine(tmp_path / "epyc-2026/z.json", "nt", "a CPU", "cuda")
    engine(tmp_path / "h200-2027/z.json", "cuda", "NVIDIA H200", "dsa")
    block = "<!-- records: epyc-2026/z.json h200-2027/z.json joined=engines -->\n<!-- end -->\n"
    lines = readme.fill(block).splitlines()[3:-1]
    assert lines == [
        "| epyc-2026 | nt | a CPU | 2 MiB | 150 cycles | 42 µs | 50.0 | 0.043 | 45 blocks |",
        "| h200-2027 | cuda | NVIDIA H200 | 2 MiB | 150 cycles | 42 µs | 50.0 | 0.043 | 45 blocks |",
        "",
        "* epyc-2026 has no cuda: its driver is not there.",
        "* h200-2027 has no dsa: its driver is not there.",
    ]


def test_what_changed_between_two_summaries_is_one_table(readme: ModuleType, tmp_path: Path) -> None:
    def cells(*body: list[str], more: tuple[str, ...] = ()) -> list[Section]:
        return [Section(id="other"), Section(id="blocks", head=["PEs", "kind", "cells", *more], body=list(body))]

    old = cells(["1", "a", "10"], ["1", "b", "20"], ["2", "gone", "7"])
    new = cells(["1", "a", "10", ""], ["1", "b", "5", "4 MHz"], ["2", "b", "1", ""], more=("clock",))
    written(tmp_path / "results/then/s.json", sections=old)
    written(tmp_path / "results/now/s.json", sections=new)
    block = "<!-- records: results/then/s.json results/now/s.json changed=blocks,2 -->\n<!-- end -->\n"
    assert readme.fill(block).splitlines()[1:-1] == [
        "| PEs | kind | cells | clock |",
        "|---|---|---|---|",
        "| 1 | a | 10 |  |",
        "| 1 | b | 20 → 5 | – → 4 MHz |",
        "| 2 | b | – → 1 |  |",
        "| 2 | gone | 7 → – |  |",
    ]
    (tmp_path / "results/then/s.json").unlink()
    assert readme.fill(block).splitlines()[3:-1] == [
        "| 1 | a | 10 |  |",
        "| 1 | b | 5 | 4 MHz |",
        "| 2 | b | 1 |  |",
        "",
        "Not recorded yet: `results/then/s.json`.",
    ]


def test_a_figure_in_a_sentence_is_that_of_the_summary(readme: ModuleType, tmp_path: Path) -> None:
    target = Compared(id="dot", text="", kind="at least", source="", target=1.5, measured=1.6303, holds=True)
    verdict = Verdict(arm="superpage", verdict="FASTER", ratio=0.4, interval=(0.25, 0.5))
    written(tmp_path / "results/m/p.json", compared=[target], verdicts=[verdict])
    text = (
        "It is <!-- figure: p dot.measured .2f -->9<!-- end --> here, and "
        "<!-- figure: p superpage.faster .1f --><!-- end --> times (<!-- figure: p superpage.low .2f -->1<!-- end -->)."
    )
    assert readme.fill(text) == text.replace(">9<", ">1.63<").replace(".1f --><", ".1f -->2.5<").replace(
        ">1<", ">0.25<"
    )


def test_chosen_sections_stand_in_the_order_asked_for(readme: ModuleType, tmp_path: Path) -> None:
    sections = [Section(id="a", about="first"), Section(id="b", title="B", head=["x"], body=[["1"]])]
    written(tmp_path / "results/m/p.json", sections=sections)
    filled = readme.fill("<!-- records: p sections=b,a -->\n<!-- end -->\n")
    assert filled == "<!-- records: p sections=b,a -->\nB.\n\n| x |\n|---|\n| 1 |\n\nfirst\n<!-- end -->\n"


def test_a_target_has_as_many_digits_as_its_bound(readme: ModuleType, tmp_path: Path) -> None:
    target = Compared(
        id="off", text="off", kind="at most", source="", target=1.005, measured=1.0041, unit="times", holds=True
    )
    written(tmp_path / "results/m/p.json", compared=[target])
    assert "| off | 1.004 | ≤ 1.005 (at most) | holds |" in readme.fill("<!-- records: p targets -->\n<!-- end -->\n")


def test_the_targets_of_several_machines_stand_beside_each_other(readme: ModuleType, tmp_path: Path) -> None:
    one = Compared(
        id="a", source="", text="a", kind="at least", target=0.95, measured=0.97, interval=(0.96, 0.98), holds=True
    )
    less = Compared(id="a", source="", text="a", kind="at least", target=0.95, measured=0.5, holds=False)
    other = Compared(id="b", source="", text="b", kind="floor", target=1.0, unit="times")
    exact = Compared(
        id="c", source="", text="c", kind="at most", target=9.0, measured=4.0, interval=(4.0, 4.0), holds=True
    )
    paper = Compared(id="p", source="", text="p", kind="published", target=1.0)
    written(tmp_path / "results/first/p.json", compared=[paper, one])
    written(tmp_path / "results/second/p.json", compared=[less, other, exact])
    assert readme.fill("<!-- records: results/*/p.json beside -->\n<!-- end -->\n").splitlines()[1:-1] == [
        "| target, at its worst point | bound | first | second |",
        "|---|---|---|---|",
        "| a | ≥ 0.95 (at least) | 0.97 (0.96 to 0.98) holds | 0.5 **missed** |",
        "| b | ≥ 1 (floor) | – | not judged |",
        "| c | ≤ 9 (at most) | – | 4 holds |",
    ]
    written(tmp_path / "results/first/p-avx2.json", compared=[less])
    assert readme.fill("<!-- records: results/first/p*.json beside -->\n<!-- end -->\n").splitlines()[1:-1] == [
        "| target, at its worst point | bound | first | first avx2 |",
        "|---|---|---|---|",
        "| a | ≥ 0.95 (at least) | 0.97 (0.96 to 0.98) holds | 0.5 **missed** |",
    ]


def test_the_calls_of_a_bench_stand_over_those_of_a_peer(readme: ModuleType, tmp_path: Path) -> None:
    def call(arm: str, *cycles: float) -> Row:
        parameters: dict[str, str | float] = {"mode": "mix-small"}
        return Row(
            subject="copy mix",
            arm=arm,
            stage="bench",
            metric="call",
            unit="cycles",
            parameters=parameters,
            samples=spread(cycles),
        )

    written(tmp_path / "results/m/mixed.json", rows=[call("glibc", 30, 40, 90), call("ours", 16, 32, 33)])
    written(tmp_path / "results/m/mixed-avx2.json", rows=[call("glibc", 50)])
    block = "<!-- records: results/m/mixed*.json calls=glibc,ours -->\n<!-- end -->\n"
    assert readme.fill(block).splitlines()[1:-1] == [
        "| instructions | calls | glibc, cycles | ours |",
        "|---|---|---|---|",
        "| avx2 | copy mix, mix-small | 50 | – |",
        "| all | copy mix, mix-small | 40 | 1.25 |",
    ]


def test_what_was_measured_on_several_machines_stands_beside_the_paper_s(readme: ModuleType, tmp_path: Path) -> None:
    def published(name: str, measured: float | None) -> Compared:
        return Compared(
            id=name,
            source="Table 1",
            text=name,
            kind="published",
            mark="value",
            target=5.0,
            unit="s",
            measured=measured,
        )

    written(tmp_path / "results/m/p.json", compared=[published("a", 3.0), published("b", None)])
    written(tmp_path / "results/m/p-rv32.json", compared=[published("a", 4.0), published("b", 2.0)])
    head = "<!-- records: results/m/p.json results/m/p-rv32.json published -->\n"
    assert readme.fill(f"{head}<!-- end -->\n").splitlines()[1:-1] == [
        "| paper | value | published | m | m rv32 |",
        "|---|---|---|---|---|",
        "| Table 1 | a | 5 s | 3 s | 4 s |",
        "| Table 1 | b | 5 s | – | 2 s |",
    ]
    alone = readme.fill("<!-- records: results/m/p.json published -->\n<!-- end -->\n")
    assert alone.splitlines()[1:-1] == [
        "| paper | value | published | here |",
        "|---|---|---|---|",
        "| Table 1 | a | 5 s | 3 s |",
    ]


def test_the_documents_are_as_the_summaries_have_them(tool: ModuleType) -> None:
    stale = [path for path in tool.documents() if tool.fill(path.read_text()) != path.read_text()]
    assert not stale, "python tools/readme.py"
    for path, drawn in tool.pictures().items():
        assert tool.in_words(drawn)
        assert tool.in_words(path.read_text()) == tool.in_words(drawn), "python tools/readme.py"


def test_the_gallery_shows_every_program_and_what_all_gain_together(readme: ModuleType, tmp_path: Path) -> None:
    plan = {"metric": "wall", "better": "lower", "base_s": 1.0, "spent_s": 90.0, "min_effect": 0.01}
    won = Verdict(arm="a", verdict="FASTER", ratio=0.5, interval=(0.4, 0.6), rounds=12, wins=12, headline=True)
    lost = Verdict(arm="b", verdict="SLOWER", ratio=1.25, interval=(1.1, 1.4), rounds=12)
    written(tmp_path / "results/m/gallery-x.json", plan=plan, verdicts=[won, lost])
    written(tmp_path / "results/m/gallery-y.json", plan=plan, verdicts=[])
    locale = Verdict(arm="locale", verdict="FASTER", ratio=0.25, interval=(0.2, 0.3), rounds=12, wins=12)
    written(tmp_path / "results/m/gallery-z.json", plan=plan, verdicts=[locale])
    filled = readme.fill("<!-- records: results/*/gallery-*.json gallery -->\n<!-- end -->")
    assert "| x |  | `a`: 2.00x faster (1.7x to 2.5x) |  |  | 1 s | `b` 1.25x slower | 1.5 |" in filled
    assert "| y |  | nothing |  |  | 1 s |  | 1.5 |" in filled
    assert "| z |  | nothing |  | `locale` 4.00x faster | 1 s |  | 1.5 |" in filled
    total = "1 of 3 are faster by 10 % or more, and 1 more where a change beside the time is accepted; "
    total += "the geometric mean over all of them, with what okosu recommends: 1.26x faster; "
    total += "with each such change accepted: 2.00x faster."
    assert total in filled
    assert "tried again with" not in filled
    slower = msgspec.structs.replace(lost, arm="a")
    written(tmp_path / "results/m/again-x.json", plan=plan, verdicts=[lost, won])
    written(tmp_path / "results/m/gallery-w.json", plan=plan, verdicts=[won])
    written(tmp_path / "results/m/again-w.json", plan=plan, verdicts=[slower])
    written(tmp_path / "results/m/again-z.json", plan=plan, verdicts=[lost])
    again = readme.fill("<!-- records: results/*/gallery-*.json gallery -->\n<!-- end -->")
    assert "| x |  | `a`: 2.00x faster (1.7x to 2.5x) | 2.00x faster |  | 1 s |" in again
    assert "| w |  | `a`: 2.00x faster (1.7x to 2.5x) | 1.25x slower: SLOWER |  | 1 s |" in again
    assert "| z |  | nothing |  | `locale` 4.00x faster | 1 s |" in again, "nothing was recommended"
    assert "2 recommendations were tried again with other seeds: 1 FASTER, 1 SLOWER." in again
    (tmp_path / "results/m/gallery-w.json").unlink()
    little = Verdict(arm="a", verdict="FASTER", ratio=0.95, interval=(0.9, 0.99), rounds=12, wins=12, headline=True)
    written(tmp_path / "results/m/gallery-z.json", plan=plan, verdicts=[little, locale])
    both = readme.fill("<!-- records: results/*/gallery-*.json gallery -->\n<!-- end -->")
    assert "1 of 3 are faster by 10 % or more, and 1 more where a change" in both, "z gains little without its change"
    hardly = Verdict(arm="a", verdict="FASTER", ratio=0.98, interval=(0.97, 0.99), rounds=12, why=f"{MAY_BE_LESS} 1 %")
    written(tmp_path / "results/m/gallery-z.json", plan=plan, verdicts=[hardly])
    small = readme.fill("<!-- records: results/*/gallery-*.json gallery -->\n<!-- end -->")
    assert "| z |  | nothing |  | `a` 2.0 % faster | 1 s |" in small
    assert "1 of 3 are faster by 10 % or more; the geometric mean" in small, "a changes nothing but the time"
    written(tmp_path / "results/m/gallery-z.json", plan=plan, verdicts=[locale])
    best = readme.fill("<!-- records: results/*/gallery-*.json gallery=1 -->\n<!-- end -->")
    assert "| x |  | `a`: 2.00x faster (1.7x to 2.5x) |  |\n" in best
    assert "| y |" not in best
    assert total in best
    (tmp_path / "README.md").write_text("<!-- picture: results/*/gallery-*.json -->\n![all](all.svg)\n")
    words = readme.in_words(readme.pictures()[tmp_path / "all.svg"])
    assert "x: a 2.00x faster" in words
    assert words.index("x: a") < words.index("z: locale") < words.index("y: nothing")
