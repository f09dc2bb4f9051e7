# SPDX-License-Identifier: Apache-2.0
"""The profile's order, records and tables, over boots that a fake kernel answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.run.outcome import Outcome
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.simd_kernel.commands import profile
from papers.simd_kernel.run import profiling
from papers.simd_kernel.tests import fake_gmon
from papers.simd_kernel.tests.fake_gmon import IMAGE

COMMANDS = [("pipe", ["/w/pipe", "1"]), ("exec", ["/w/exec", "2"])]
PLAN = profiling.Schedule(("orig", "sse2"), 3, seed=7, subject="linux 6.12")
COPIES = {"orig": 600, "sse2": 200}


class Kernel:
    """Answers boots: the routine's samples in gmon.out, a line for each workload."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.boots = folder, list[tuple[str, str]]()
        self.says = ""

    def __call__(self, command: Sequence[str], routine: str) -> Outcome:
        self.boots.append((routine, command[-1]))
        counts = [COPIES[routine], 0, 100] if routine == "orig" else [0, COPIES[routine], 100]
        file = fake_gmon.write(self.folder / f"gmon.{len(self.boots)}", counts)
        works = command[-1].count("/w/")
        lines = [self.says or routine, *['{"ops": 1, "seconds": 2.0, "bytes": 0}'] * works]
        return Outcome(0, None, "\n".join(lines).encode(), b"", "", "", 0.1, 1.0, {"gmon.out": file})


def by_key(records: Sequence[Record]) -> dict[tuple[str, str, str, str], Record]:
    keys = [
        (one.variant, str(one.parameters["workload"]), one.metric, str(one.parameters.get("function", "")))
        for one in records
    ]
    assert not [key for key, count in Counter(keys).items() if count > 1]
    return dict(zip(keys, records, strict=True))


def test_each_round_boots_each_routine_once_in_an_order_of_its_own(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    list(profiling.conduct(kernel, COMMANDS, IMAGE, profiling.Schedule(("orig", "sse2"), 20)))
    rounds = [tuple(name for name, _ in kernel.boots[i : i + 2]) for i in range(0, 40, 2)]
    assert set(rounds) == {("orig", "sse2"), ("sse2", "orig")}


def test_records_hold_a_sample_of_each_boot(tmp_path: Path) -> None:
    found = by_key(list(profiling.conduct(Kernel(tmp_path), COMMANDS, IMAGE, PLAN)))
    assert found["orig", "all", "function", "memcpy"].samples == [6.0] * 3
    assert found["sse2", "all", "function", "memcpy"].samples == [2.0] * 3
    assert found["sse2", "all", "kernel", ""].samples == [3.0] * 3
    assert found["orig", "pipe", "wall", ""].samples == [2.0] * 3
    assert found["orig", "all", "wall", ""].samples == [4.0] * 3
    for record in found.values():
        assert record.rounds == [1, 2, 3]
        assert len(record.order) == len(record.predecessor) == 3
    orders = sorted(found["orig", "all", "wall", ""].order + found["sse2", "all", "wall", ""].order)
    assert orders == [1, 2, 3, 4, 5, 6]


def test_a_record_is_there_after_its_first_boot_and_grows(tmp_path: Path) -> None:
    records = profiling.conduct(Kernel(tmp_path), COMMANDS, IMAGE, PLAN)
    first = next(records)
    assert len(first.samples) == 1
    list(records)
    assert len(first.samples) == 3


def test_a_workload_alone_has_functions_of_its_own(tmp_path: Path) -> None:
    plan = profiling.Schedule(("orig",), 1, alone=2)
    kernel = Kernel(tmp_path)
    found = by_key(list(profiling.conduct(kernel, COMMANDS, IMAGE, plan)))
    assert found["orig", "exec", "function", "memcpy"].samples == [6.0, 6.0]
    assert found["orig", "exec", "wall", ""].samples == [2.0]
    assert len(kernel.boots) == 1 + 2 * 2


def test_a_function_without_samples_in_a_boot_has_zero_there() -> None:
    series = profiling.Series("all", "orig", 1, "")
    with_, without = profiling.Table([profiling.gprof.Row("f", 5, 0.05, 1.0)], 5, 0.05), profiling.Table([], 0, 0)
    found = [*series.add(without, (1, 1, "")), *series.add(with_, (2, 2, "")), *series.add(without, (3, 3, ""))]
    late = next(one for one in found if one.parameters.get("function") == "f")
    assert late.samples == [0.0, 0.05, 0.0]
    assert late.rounds == [1, 2, 3]


def test_another_routine_than_asked_for_is_an_error(tmp_path: Path) -> None:
    kernel = Kernel(tmp_path)
    kernel.says = "avx2"
    with pytest.raises(OkosuError, match=r"ran with \['avx2'\]"):
        list(profiling.conduct(kernel, COMMANDS, IMAGE, PLAN))


def test_a_workload_that_fails_is_named() -> None:
    def boot(command: Sequence[str], routine: str) -> Outcome:
        said = f'{routine}\n{{"ops": 1, "seconds": 1, "bytes": 0}}\n'.encode()
        return Outcome(1, None, said, b"exec: the data are wrong", "", "", 0.1, 1.0, {})

    with pytest.raises(OkosuError, match=r"the workload exec failed with (orig|sse2), status 1") as raised:
        list(profiling.conduct(boot, COMMANDS, IMAGE, PLAN))
    assert "data are wrong" in raised.value.why


def test_the_tables_mark_too_few_samples(tmp_path: Path) -> None:
    text = profile.render(list(profiling.conduct(Kernel(tmp_path), COMMANDS, IMAGE, PLAN)))
    lines = {words[0]: words for line in text.splitlines() if (words := line.split())}
    assert "orig        1800      6.00  85.7%     7.00     4.00      3" in text
    assert "sse2         600*     2.00  66.7%     3.00     4.00      3" in text
    assert "fewer than 1000 samples" in text
    assert lines["userspace"][1:] == ["1.00", "14.3%"]
