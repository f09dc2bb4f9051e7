# SPDX-License-Identifier: Apache-2.0
"""UnixBench from a user's checkout: found, refused with what to do, driven and read; all with a fake checkout."""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lab.kernel.build import Built
from lab.run import uml
from lab.run.outcome import Outcome
from lab.tests import obeys
from okosu.errors import OkosuError
from papers.simd_kernel.commands import profile
from papers.simd_kernel.report import summary
from papers.simd_kernel.run import profiling, symbols, unixbench
from papers.simd_kernel.tests import fake_gmon, planted

FAKE = """#!/bin/sh
printf '%s %s\\n' "$(basename "$0")" "$*" >> "$(dirname "$0")/log"
[ -d "$UB_BINDIR" ] || exit 9
echo "COUNT|1234|1|lps" >&2
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "UnixBench"
    (folder / "pgms").mkdir(parents=True)
    (folder / "Run").touch()
    for test in unixbench.TABLE:
        program = folder / "pgms" / test.program
        program.write_text(FAKE)
        program.chmod(0o755)
    return folder


ROUTINES = ("orig", "movsb", "sse2")


class Kernel:
    """Boots, each of which runs its command on this machine and leaves samples of memcpy by routine."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.boots = folder, list[tuple[str, str]]()
        self.says = ""

    def __call__(self, command: Sequence[str], routine: str) -> Outcome:
        (sysfs := self.folder / "sysfs").mkdir(exist_ok=True)
        (sysfs / "choice").write_text(f"{self.says or routine}\n")
        (sysfs / "available").write_text(f"[{ROUTINES[0]}] {' '.join(ROUTINES[1:])}\n")
        words = [word.replace("/sys/kernel/um_copy", str(sysfs)) for word in command]
        done = subprocess.run(words, capture_output=True, check=False)
        if "pgms" in words[-1]:
            self.boots.append((words[-1].partition("pgms/")[2].split()[0], routine))
        count = 100 * (1 + ROUTINES.index(routine))
        file = fake_gmon.write(self.folder / f"gmon.{len(self.boots)}", [count, 0, 50])
        return Outcome(done.returncode, None, done.stdout, done.stderr, "", "", 0.1, 0.1, {"gmon.out": file})


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    (folder := tmp_path / "kernel").mkdir()
    return Kernel(folder)


@pytest.fixture
def profiled(kernel: Kernel, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Return a function that runs `okosu lab profile uml --unixbench CHECKOUT` with further words on that kernel."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(uml, "build", lambda **_: Built(tmp_path, "", "6.12.7-1", "gcc", (), (), any_xstate=True))
    monkeypatch.setattr(profiling, "booting", lambda *_: kernel)
    monkeypatch.setattr(symbols, "of_image", lambda _: fake_gmon.IMAGE)

    def run(*words: str) -> int:
        parser = argparse.ArgumentParser()
        profile.add_arguments(parser)
        return profile.run(parser.parse_args(["uml", "--unixbench", str(checkout), *words]))

    return run


def records(text: str) -> list[dict[str, Any]]:
    told = obeys.its_schema(text)
    assert told["schema"] == "okosu.lab-profile/1"
    found: list[dict[str, Any]] = told["records"]
    return found


def test_the_checkout_may_be_named_from_above(checkout: Path) -> None:
    assert unixbench.check(checkout) == unixbench.check(checkout.parent) == checkout


def test_no_checkout_is_a_usage_error_with_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(OkosuError, match="no checkout of UnixBench") as raised:
        unixbench.check(tmp_path / "nowhere")
    assert raised.value.status == 2
    assert raised.value.why
    assert "byte-unixbench" in raised.value.fix


def test_a_checkout_that_is_not_built_names_what_lacks_and_how_to_make_it(checkout: Path) -> None:
    (checkout / "pgms" / "fstime").unlink()
    (checkout / "pgms" / "execl").chmod(0o644)
    with pytest.raises(OkosuError, match="not built") as raised:
        unixbench.check(checkout)
    assert raised.value.why == "pgms lacks fstime, execl"
    assert raised.value.fix.startswith(f"make -C {checkout} ")


def test_every_test_is_run_with_its_arguments(checkout: Path, kernel: Kernel) -> None:
    plan = profiling.Schedule(("orig",), 1)
    tests = [test.shared(0.1) for test in unixbench.TABLE]
    found = list(unixbench.conduct(kernel, checkout, tests, fake_gmon.IMAGE, plan))
    # The programs count 1,234 loops, of one second or of three.
    rates = {one.parameters["workload"]: (one.unit, *one.samples) for one in found if one.metric == "rate"}
    assert rates == {test.name: ("lps", 1234.0 / test.seconds) for test in tests}
    assert {test.seconds for test in tests} == {1, 3}
    said = (checkout / "pgms" / "log").read_text().splitlines()
    assert said[0] == "pipe 1"
    assert "fstime -c -t 3 -d /tmp -b 1024 -m 2000" in said
    assert "execl 3" in said


def test_each_round_has_each_test_with_each_routine_in_an_order_of_its_own(checkout: Path, kernel: Kernel) -> None:
    plan = profiling.Schedule(ROUTINES, 12)
    found = list(unixbench.conduct(kernel, checkout, unixbench.find(["syscall", "pipe"]), fake_gmon.IMAGE, plan))
    assert Counter(kernel.boots) == {(name, routine): 12 for name in ("pipe", "syscall") for routine in ROUTINES}
    turns = [tuple(routine for _, routine in kernel.boots[i : i + 3]) for i in range(0, 72, 3)]
    assert {name for name, _ in kernel.boots[:3]} == {"pipe"}
    assert len(set(turns)) > 1
    for one in found:
        assert one.rounds == list(range(1, 13))
    whole = next(one for one in found if one.parameters["workload"] == "all" and one.metric == "kernel")
    # Both tests' samples of the routine and of the rest, 100 a second.
    assert whole.samples == [2 * (1 + ROUTINES.index(whole.variant)) + 1.0] * 12


def test_another_routine_than_asked_for_is_an_error(checkout: Path, kernel: Kernel) -> None:
    kernel.says = "avx2"
    with pytest.raises(OkosuError, match="ran with 'avx2' where orig was asked for"):
        list(unixbench.conduct(kernel, checkout, unixbench.TABLE, fake_gmon.IMAGE, profiling.Schedule(("orig",), 1)))


def test_a_test_that_fails_is_named(checkout: Path, kernel: Kernel) -> None:
    (checkout / "pgms" / "spawn").write_text("#!/bin/sh\necho no more processes >&2\nexit 3\n")
    with pytest.raises(OkosuError, match="UnixBench's spawn failed with orig, status 3") as raised:
        list(unixbench.conduct(kernel, checkout, unixbench.TABLE, fake_gmon.IMAGE, profiling.Schedule(("orig",), 1)))
    assert "no more processes" in raised.value.why


def test_the_options_are_honoured(profiled: Callable[..., int], kernel: Kernel, tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    words = ["--variants", "orig,sse2", "--rounds", "3", "--workloads", "pipe,syscall", "--seed", "5"]
    assert profiled(*words, "--json", str(file)) == 0
    assert Counter(kernel.boots) == {(name, one): 3 for name in ("pipe", "syscall") for one in ("orig", "sse2")}
    found = records(file.read_text())
    assert {(one["variant"], one["parameters"]["workload"]) for one in found} == {
        (variant, name) for variant in ("orig", "sse2") for name in ("pipe", "syscall", "all")
    }
    assert {len(one["samples"]) for one in found} == {3}
    assert {one["seed"] for one in found} == {5}


def test_without_options_each_test_has_one_boot_with_each_routine(
    profiled: Callable[..., int], kernel: Kernel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert profiled() == 0
    tests = Counter(test.program for test in unixbench.TABLE)
    assert Counter(kernel.boots) == {(name, one): count for name, count in tests.items() for one in ROUTINES}
    shown = capsys.readouterr()
    assert "orig: functions by gprof, 1 boots" in shown.out
    assert "pipe: seconds in a boot, medians (memcpy and kernel by gprof), and lps" in shown.out
    assert "movsb        200*     2.00  80.0%     2.50      123      1" in shown.out
    (file,) = (tmp_path / "state/okosu").glob("profile-*.json")
    assert shown.err.endswith(f"records: {file}\n")
    rates = [one for one in records(file.read_text()) if one["metric"] == "rate"]
    assert len(rates) == len(ROUTINES) * len(unixbench.TABLE)


def test_records_go_to_the_standard_output(profiled: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert profiled("--workloads", "pipe", "--variants", "movsb", "--json", "-") == 0
    assert {one["variant"] for one in records(capsys.readouterr().out)} == {"movsb"}


def test_a_routine_or_a_test_that_there_is_not_is_refused(profiled: Callable[..., int], kernel: Kernel) -> None:
    with pytest.raises(OkosuError, match="cannot run avx9") as raised:
        profiled("--variants", "orig,avx9")
    assert raised.value.why == "it can run orig, movsb, sse2"
    with pytest.raises(OkosuError, match="no test of UnixBench is called 'copy-4096'") as raised:
        profiled("--workloads", "copy-4096")
    assert raised.value.status == 2
    assert kernel.boots == []


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--alone", "2"], "--alone does not go with --unixbench"),
        (["--histogram"], "--histogram and --unixbench exclude each other"),
        (["--rounds", "0"], "--rounds is 1 or more"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    profiled: Callable[..., int], kernel: Kernel, words: list[str], what: str
) -> None:
    with pytest.raises(OkosuError, match=what) as raised:
        profiled(*words)
    assert raised.value.status == 2
    assert kernel.boots == []


def test_the_plan_is_what_would_be_run(
    profiled: Callable[..., int], kernel: Kernel, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert profiled("--dry-run", "--variants", "orig,sse2", "--rounds", "4", "--workloads", "fstime-256") == 0
    assert capsys.readouterr().out.splitlines() == [
        "kernel: uml, um, um-gprof",
        f"fstime-256   {checkout}/pgms/fstime -c -t 30 -d /tmp -b 256 -m 500",
        "boots: 4 of each test and routine",
        "routines: orig, sse2",
    ]
    assert kernel.boots == []


def test_a_summary_has_the_paper_s_tables_with_the_routines_beside_them(
    profiled: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert profiled("--rounds", "6", "--scale", "0.1", "--workloads", "pipe,fstime-256", "--json", "-") == 0
    kept = summary.raw(json.loads(capsys.readouterr().out))
    assert kept is not None
    words = "--rounds 6 --scale 0.1 --workloads pipe,fstime-256 --variants orig,movsb,sse2"
    assert kept.command == f"okosu lab profile uml --unixbench DIR {words} --json unixbench.json"
    functions, routines, rates = kept.sections
    assert functions.head == ["function", "Table 2", "`orig`", "Table 3", "`movsb`", "`sse2`"]
    # Two tests in a round, whose kernel leaves 100, 200 or 300 samples of memcpy and 50 of another function.
    copied = ["12.00 s, 66.67 %", "24.00 s, 80.00 %", "36.00 s, 85.71 %"]
    assert functions.body[0] == ["`memcpy`", "12.96 s, 8.72 %", copied[0], "8.75 s, 5.64 %", *copied[1:]]
    assert functions.body[-1] == ["the kernel", "–", "18.00 s", "–", "30.00 s", "42.00 s"]
    assert routines.body == [
        ["`orig`", "1200", "12.00 s", "1", "18.00 s", "1"],
        ["`movsb`", "2400", "24.00 s", "2.000 (2.000 to 2.000)", "30.00 s", "1.667 (1.667 to 1.667)"],
        ["`sse2`", "3600", "36.00 s", "3.000 (3.000 to 3.000)", "42.00 s", "2.333 (2.333 to 2.333)"],
    ]
    assert routines.notes == []
    # The programs count 1,234 loops whatever they are asked for: of one second, and of three.
    assert [row[:2] for row in rates.body] == [["pipe", "1,234 lps"], ["fstime-256", "411 lps"]]
    assert {cell for row in rates.body for cell in row[2:]} == {"1.000 (1.000 to 1.000)"}


def test_few_rounds_have_no_interval_and_few_samples_are_marked(
    profiled: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert profiled("--rounds", "2", "--workloads", "pipe", "--json", "-") == 0
    kept = summary.raw(json.loads(capsys.readouterr().out))
    assert kept is not None
    assert kept.sections[1].body[1] == ["`movsb`", "400*", "4.00 s", "2.000", "5.00 s", "1.667"]
    assert len(kept.sections[1].notes) == 1


def test_a_summary_of_another_record_has_none_of_these_tables() -> None:
    records = [msgspec.to_builtins(one) for one in planted.profiled()]
    assert summary.raw({"schema": "okosu.lab-profile/1", "records": records}) is None
    assert summary.raw({"schema": "okosu.lab-synth/1"}) is None


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("COUNT|36251.0|0|KBps\nTIME|30.0\n", unixbench.Rate(36251.0, "KBps")),
        ("noise\nCOUNT|99|1|lps", unixbench.Rate(9.9, "lps")),
        ("COUNT|99|60|lpm", unixbench.Rate(594.0, "lpm")),
        # What fstime -c prints: writing and reading first; and context1, whose child has counted nothing.
        ("COUNT|300|0|KBps\nTIME|2.0\nCOUNT|900|0|KBps\nCOUNT|500|0|KBps\n", unixbench.Rate(500.0, "KBps")),
        ("COUNT|70|1|lps\nCOUNT|0|1|lps\n", unixbench.Rate(7.0, "lps")),
    ],
)
def test_a_rate_is_read(text: str, rate: unixbench.Rate) -> None:
    assert unixbench.parse(text, 10.0) == rate


@pytest.mark.parametrize("text", ["", "COUNT|x|1|lps", "COUNT", "COUNT|1.2.3|1|lps", "COUNT|0|1|lps"])
def test_no_rate_is_an_error(text: str) -> None:
    with pytest.raises(OkosuError, match="no line COUNT"):
        unixbench.parse(text, 10.0)
