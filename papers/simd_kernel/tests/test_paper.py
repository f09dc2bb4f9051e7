# SPDX-License-Identifier: Apache-2.0
"""The SIMD kernel's paper beside planted boots, builds and code: what contradicts itself there, and what we compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.tests import obeys
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers import common
from papers.common import programs
from papers.common.base import Measured, Ours
from papers.common.judge import Judged, judge
from papers.simd_kernel.compare import figure6, table1
from papers.simd_kernel.plan import Timing
from papers.simd_kernel.run import copybench
from papers.simd_kernel.run.copybench import Boot
from papers.simd_kernel.tests.planted import PLAN, SIZES, boots, compiled, figure6_records, profiled, surveyed, ticks

PAPER = common.load()["simd-kernel"]
VALUE = {entry.id: entry.value for entry in PAPER.published()}
DISPUTED = {entry.id for entry in PAPER.published() if entry.mark == "disputed"}


def test_its_tables_are_complete() -> None:
    """Counted on the paper's pages: 16 files, five functions with two numbers in Tables 2 and 3, six numbers in 4."""
    assert len([name for name in VALUE if name.startswith("t1.")]) == 16
    for table in ("t2", "t3"):
        assert len([name for name in VALUE if re.fullmatch(rf"{table}\.\w+\.(time|share)", name)]) == 10
    assert len([name for name in VALUE if name.startswith("t4.")]) == 6


def test_the_rows_of_table_1_add_up_to_the_text() -> None:
    assert sum(value for name, value in VALUE.items() if name.startswith("t1.")) == VALUE["5.2.loops"]
    assert table1.TABLE1.keys() == {name[3:] for name in VALUE if name.startswith("t1.")}


@pytest.mark.parametrize(("table", "total"), [("t2", 148.6), ("t3", 155.1)])
def test_the_rows_of_tables_2_and_3_imply_one_total_each(table: str, total: float) -> None:
    """All but strncpy's share in Table 2, which is disputed for that."""
    names = {name.removesuffix(".time") for name in VALUE if name.startswith(table) and name.endswith(".time")}
    for name in names:
        fits = abs(100 * VALUE[f"{name}.time"] / total - VALUE[f"{name}.share"]) < 0.02
        assert fits != (f"{name}.share" in DISPUTED), name


def test_table_4_contradicts_tables_2_and_3_and_itself() -> None:
    before, after = VALUE["t4.total.before"], VALUE["t4.total.after"]
    # Each total is the one that the other table implies.
    assert VALUE["t2.total"] == pytest.approx(after, rel=1e-3)
    assert VALUE["t3.total"] == pytest.approx(before, rel=1e-3)
    assert 100 * VALUE["t4.memcpy.before"] / before == pytest.approx(8.36, abs=0.01)
    assert 100 * VALUE["t4.memcpy.after"] / after == pytest.approx(5.89, abs=0.01)
    assert 100 * (1 - after / before) == pytest.approx(4.2, abs=0.05)
    assert 100 * (VALUE["t3.total"] / VALUE["t2.total"] - 1) == pytest.approx(4.4, abs=0.05)
    assert {"t4.total.before", "t4.total.after", "t4.share.before", "t4.share.after", "7.kernel"} <= DISPUTED
    assert 100 * (1 - VALUE["t4.memcpy.after"] / VALUE["t4.memcpy.before"]) == pytest.approx(32.5, abs=0.05)


def test_bits_that_were_taken_for_bytes_are_disputed() -> None:
    assert {"6.movdqu", "6.least", "8.1.copies", "8.2.unit", "9.avx"} <= DISPUTED
    assert VALUE["6.block"] / 16 == 32


@pytest.fixture(scope="module")
def ours() -> dict[str, Ours]:
    measured = Measured(
        records={"figure6": figure6_records(), "survey": surveyed(), "code": compiled(), "profile": profiled()}
    )
    measured.machine = {"memory": {"total_kb": 8 * 2**20}}
    return PAPER.compare(measured)


def test_every_entry_is_compared_or_excused(ours: dict[str, Ours]) -> None:
    for entry in PAPER.published():
        assert (entry.id in ours) != bool(entry.not_measured), entry.id


def test_figure_6_is_counted_size_by_size(ours: dict[str, Ours]) -> None:
    assert ours["6.calls"].value == 12_000
    assert (ours["6.from"].value, ours["6.to"].value) == (128, 2048)
    # Below 512 bytes the planted routine `paper` takes 2 ticks more than movsq; from 512 on it wins, and at multiples
    # of 512 it has no tail.
    assert ours["6.below"].value == 0
    assert ours["6.above"].value == 0
    assert ours["6.teeth"].value == 4
    assert "512, 1024, 1536, 2048" in ours["6.teeth"].why
    assert "of 24 sizes, movsq" in ours["6.below"].why


def test_a_routine_that_is_slower_than_published_is_counted() -> None:
    slow = PAPER.compare(Measured(records={"figure6": figure6_records(paper=3.0)}))
    assert slow["6.above"].value > 10
    fast = PAPER.compare(Measured(records={"figure6": figure6_records(paper=0.5)}))
    assert fast["6.below"].value == 24


def test_the_survey_stands_beside_table_1(ours: dict[str, Ours]) -> None:
    assert ours["5.2.loops"].value == 3
    assert "stock 0" in ours["5.2.loops"].why
    assert ours["t1.bitmap"].value == 2
    assert ours["t1.vmstat"].value == 0
    assert "ext4" in ours["t1.ext3-hash"].why
    assert ours["4.runtime"].value == 1
    assert ours["5.1.gcc"].value == 11.3
    assert ours["5.1.kernel"].value == 6.12


def test_the_code_stands_beside_sections_6_and_8(ours: dict[str, Ours]) -> None:
    assert ours["6.block"].value == 512
    assert ours["6.string"].value == 0
    assert ours["8.1.copies"].value == 16
    assert "are 700 bytes, and the kernel's code goes from 1000 to 1600 (+600)" in ours["8.1.copies"].why


def judged(name: str, records: dict[str, list[Record]]) -> list[Judged]:
    target = next(one for one in PAPER.targets() if one.id == name)
    return judge(target, PAPER.sides(target, Measured(records=records)).sides)


def test_targets_on_figure_6_take_one_routine_and_every_size() -> None:
    held = {"figure6": figure6_records()}
    assert {len(judged(name, held)) for name in ("figure6-best-orig", "figure6-best-movsb")} == {len(SIZES)}
    assert len(judged("figure6-paper-orig", held)) == len([size for size in SIZES if size >= 512])
    assert all(one.sides.variant == "avx2" and one.ratio > 1 for one in judged("figure6-best-movsb", held))
    # Both routines drift alike over the boots, so that their ratio does not.
    assert judged("figure6-best-orig", held)[0].ratio == pytest.approx(ticks("orig", 64) / ticks("avx2", 64))
    lost = judged("figure6-best-movsb", {"figure6": figure6_records(avx2=4.0)})
    assert min(one.ratio for one in lost) < 1


def test_the_profile_stands_beside_tables_2_to_4(ours: dict[str, Ours]) -> None:
    at = 1 + 5.5 / 50
    assert ours["t2.memcpy.time"].value == pytest.approx(4.0 * at)
    assert ours["t2.memcpy.share"].value == pytest.approx(100 * 4 / 24)
    assert ours["t3.memcpy.time"].value == pytest.approx(2.0 * at)
    assert (ours["t2.strncpy.time"].value, ours["t2.strncpy.share"].value) == (0, 0)
    assert "no sample" in ours["t2.strncpy.time"].why
    assert ours["t4.total.after"].value == pytest.approx(22.0 * at)
    assert ours["7.memcpy"].value == pytest.approx(50)
    assert "from movsq to paper by 33.3 % (95 %" in ours["7.memcpy"].why
    assert ours["7.kernel"].value == pytest.approx(100 * 2 / 24)
    assert "movsq 3.33 s" in ours["t4.memcpy.before"].why


def test_a_loop_of_a_function_that_takes_much_of_the_time_is_hot() -> None:
    held = surveyed()
    for record in held:
        if record.metric == "loop":
            record.parameters["function"] = "set_up_tty"
    found = PAPER.compare(Measured(records={"survey": held, "profile": profiled()}))["5.3.hot"]
    assert found.value == 1
    assert found.why.startswith("set_up_tty; the profile's first 5: memcpy, hard_handler, userspace, set_up_tty, a")


def test_targets_on_the_profile_are_of_okosus_best_routine_and_todays() -> None:
    [one] = judged("memcpy-time", {"profile": profiled()})
    assert one.sides.variant == "avx2"
    assert one.ratio == pytest.approx(0.25)
    assert not judged("memcpy-time", {"profile": []})
    # 100 samples a second: too few to tell a total from chance.
    assert not judged("memcpy-time", {"profile": profiled(orig=0.5)})


def test_a_boot_in_which_memcpy_has_no_sample_counts_as_half_of_one() -> None:
    held = profiled()
    for record in held:
        if record.variant == "avx2" and record.parameters.get("function") == "memcpy":
            record.samples[0] = 0.0
    [one] = judged("memcpy-time", {"profile": held})
    assert one.ratio == pytest.approx(0.25)


def test_quick_runs_the_thin_measurement_and_only_where_the_kernel_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert not any(one.quick for one in PAPER.experiments())
    monkeypatch.setattr("lab.kernel.build.cached", lambda recipe: True)
    [quick] = [one for one in PAPER.experiments() if one.quick]
    assert quick.name == "figure6"
    asked: list[Timing] = []

    def boots_(run: object, plan: Timing, say: object) -> Iterator[Boot]:
        asked.append(plan)
        return boots(plan.boots)

    monkeypatch.setattr("papers.simd_kernel.run.copybench.boots", boots_)
    monkeypatch.setattr("lab.run.uml.build", lambda **_: Built(tmp_path, "k", "6.12", "gcc", (), (), True))
    for is_quick in (True, False):
        into = Measured()
        programs.run_lab(quick, is_quick, into, lambda _: None, lambda _: None)
        assert into.records["figure6"]
    assert asked[0].total < asked[1].total == 5_000_000


def test_the_command_lists_the_configurations_beside_the_paper() -> None:
    from papers.simd_kernel.commands import survey

    text = survey.render(surveyed(), every=True)
    assert "lib/bitmap.c                           5    2    0" in text
    assert "mm/new.c                                    1    0" in text
    assert re.search(r"^stock +1 +0 +0 +0$", text, re.MULTILINE)
    assert "  mm/new.c:3 " in text


def test_the_command_writes_the_survey_by_its_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from okosu.cli.main import dispatch
    from papers.simd_kernel.run import survey

    monkeypatch.setattr(survey, "survey", lambda chosen, source, say: iter(surveyed()))
    assert dispatch(["lab", "survey", "--json", str(tmp_path / "survey.json")]) == 0
    told = obeys.its_schema((tmp_path / "survey.json").read_text())
    assert (told["schema"], len(told["records"])) == ("okosu.lab-survey/1", len(surveyed()))
    assert "lib/bitmap.c" in capsys.readouterr().out


def test_targets_on_the_boot_are_of_what_the_kernel_printed() -> None:
    held = {"figure6": figure6_records()}
    assert [one.sides.point.n for one in judged("boot-never-worse", held)] == [512, 2048]
    assert [one.sides.point.n for one in judged("boot-512", held)] == [512]
    worse = judged("boot-never-worse", {"figure6": figure6_records(avx2=5.0)})
    assert all(one.below(0.95) for one in worse)


def test_the_best_routine_is_one_for_all_sizes_and_okosus() -> None:
    by_size = figure6.read(figure6_records(orig=0.01))
    assert figure6.best(by_size) == "avx2"
    assert figure6.best({}) is None


def test_records_of_the_boots_are_rows_of_a_bench_with_a_round_for_each_boot() -> None:
    records = figure6_records()
    assert all(record.platform == "uml" for record in records)
    row = figure6.read(records)[512]["avx2"]
    assert row.rounds == list(range(1, 13))
    assert row.extra == {"calls": 12_000, "chosen": True}
    assert len({row.point for row in figure6.read(records)[528].values()}) == 1


@pytest.mark.parametrize("end", [OkosuError("the guest did not boot"), KeyboardInterrupt()])
def test_what_was_measured_before_the_end_is_kept(end: BaseException) -> None:
    def failing() -> Iterator[Boot]:
        yield from boots(2)
        raise end

    found: list[Record] = []
    with pytest.raises(type(end)):
        found.extend(copybench.measure(failing, PLAN, "6.12"))
    assert {len(record.samples) for record in found} == {2}
