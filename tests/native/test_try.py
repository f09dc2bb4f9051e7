# SPDX-License-Identifier: Apache-2.0
"""okosu try on real processes: situations it must survive, requests it must refuse, and its messages. Nothing here
depends on an absolute time.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import warm_okosu

FEW = [
    "--levers",
    "none",
    "--arm",
    "same=OKOSU_TEST=1",
    "--min-rounds",
    "8",
    "--max-rounds",
    "8",
    "--budget",
    "2h",
    "--seed",
    "1",
]


def okosu(*argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    return warm_okosu.okosu(*argv, env={**os.environ, **env})


def tried(tmp_path: Path, *argv: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run okosu try with its records in tmp_path; return the finished process and the envelope."""
    path = tmp_path / "trial.json"
    done = okosu("try", "--json", str(path), *argv)
    return done, json.loads(path.read_text()) if path.exists() else {}


def finished(tmp_path: Path, *argv: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """The same of a trial that must end well."""
    done, envelope = tried(tmp_path, *argv)
    assert done.returncode == 0, done.stderr
    return done, envelope


def verdicts(envelope: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {v["arm"]: v for v in envelope["verdicts"]}


def test_a_slower_arm_is_found_and_the_table_is_narrow(tmp_path: Path) -> None:
    # CPU time: beside other work, 16 rounds of wall time do not always tell apart what takes milliseconds.
    script = "i=0; while [ $i -lt ${TURNS:-2000} ]; do i=$((i+1)); done; echo done"
    done, envelope = finished(
        tmp_path, "--levers", "none", "--arm", "more=TURNS=20000", "--arm", "less=TURNS=200", "--max-rounds", "16",
        "--metric", "cpu", "--budget", "2h", "--expect", "more=slower", "--seed", "2", "--", "/bin/sh", "-c", script,
    )  # fmt: skip
    found = verdicts(envelope)
    assert found["more"]["verdict"] == "SLOWER"
    assert found["less"]["verdict"] in ("FASTER", "NOT CONFIRMED", "UNRESOLVED")
    # The path of the records, which an undecided trial names, is not divided.
    assert max(len(line) for line in done.stdout.splitlines()[1:-1] if " " in line.strip()) <= 80
    assert envelope["schema"] == "okosu.try/3"
    assert envelope["finished"]


def test_expectations_that_are_not_met_exit_3(tmp_path: Path) -> None:
    done, _ = tried(tmp_path, *FEW, "--expect", "same=slower", "--", "/bin/true")
    assert done.returncode == 3
    assert "expected same to be SLOWER" in done.stderr


def test_output_that_changes_is_refused_unless_any_will_do(tmp_path: Path) -> None:
    done, _ = tried(tmp_path, *FEW, "--", "/bin/sh", "-c", "echo $$")
    assert done.returncode == 1
    assert "--check true" in done.stderr
    done, envelope = finished(tmp_path, *FEW, "--check", "true", "--", "/bin/sh", "-c", "echo $$")
    assert verdicts(envelope)["same"]["rounds"] == 8


def test_a_check_reads_the_output_and_can_fail_an_arm(tmp_path: Path) -> None:
    _, envelope = finished(
        tmp_path, *FEW, "--arm", "bad=WORD=wrong", "--check", "grep -q right", "--",
        "/bin/sh", "-c", "echo ${WORD:-right} $$",
    )  # fmt: skip
    assert verdicts(envelope)["bad"]["verdict"] == "WRONG OUTPUT"
    assert "--check exited with 1" in verdicts(envelope)["bad"]["why"]


@pytest.mark.parametrize(
    ("script", "said"), [("exit 3", "exit status 3"), ("kill -SEGV $$", "SIGSEGV"), ("kill -KILL $$", "SIGKILL")]
)
def test_programs_that_fail_are_refused_with_what_they_said_unless_asked_for(
    tmp_path: Path, script: str, said: str
) -> None:
    refused, envelope = tried(tmp_path, *FEW, "--", "/bin/sh", "-c", f"echo no such table >&2; {script}")
    assert (refused.returncode, envelope) == (1, {})
    assert all(text in refused.stderr for text in (said, "no such table", "--ignore-failure")), refused.stderr
    done, envelope = finished(tmp_path, *FEW, "--ignore-failure", "--", "/bin/sh", "-c", script)
    assert said in done.stderr
    assert verdicts(envelope)["same"]["rounds"] == 8


def test_an_arm_that_crashes_is_wrong_output(tmp_path: Path) -> None:
    script = '[ "$DIE" ] && kill -SEGV $$; true'
    _, envelope = finished(tmp_path, *FEW, "--arm", "crash=DIE=1", "--", "/bin/sh", "-c", script)
    assert verdicts(envelope)["crash"]["verdict"] == "WRONG OUTPUT"
    assert "SIGSEGV" in verdicts(envelope)["crash"]["why"]


def test_a_program_that_hangs_is_ended_by_the_timeout(tmp_path: Path) -> None:
    done, _ = tried(tmp_path, *FEW, "--timeout", "1s", "--", "/bin/sh", "-c", "trap '' TERM; sleep 100; :")
    assert done.returncode == 1
    assert "did not end within" in done.stderr
    assert "fix:" in done.stderr


def test_standard_input_children_and_threads(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("3\n")
    script = "import sys, threading, os; n = int(sys.stdin.readline()); os.system('true')\n" \
        "ts = [threading.Thread(target=lambda: None) for _ in range(n)]\n" \
        "[t.start() for t in ts]; [t.join() for t in ts]; print(n)"  # fmt: skip
    _, envelope = finished(tmp_path, *FEW, "--stdin", str(tmp_path / "in"), "--", sys.executable, "-c", script)
    assert verdicts(envelope)["same"]["rounds"] == 8


def test_prepare_and_conclude_run_around_every_run(tmp_path: Path) -> None:
    log = tmp_path / "log"
    _, envelope = finished(
        tmp_path, *FEW, "--prepare", f"echo p >> '{log}'", "--conclude", f"echo c >> '{log}'", "--", "/bin/true"
    )
    runs = sum(len(r["samples"]) for r in envelope["records"] if r["metric"] == "wall")
    assert log.read_text() == "p\nc\n" * runs


def test_a_prepare_that_fails_is_said_with_what_it_printed(tmp_path: Path) -> None:
    done, _ = tried(tmp_path, *FEW, "--prepare", "echo cannot >&2; exit 4", "--", "/bin/true")
    assert done.returncode == 1
    assert "exited with 4" in done.stderr
    assert "cannot" in done.stderr


def test_a_metric_of_the_programs_own(tmp_path: Path) -> None:
    argv = [
        "--levers", "none", "--arm", "double=RATE=20", "--max-rounds", "8", "--metric", r"regex:rate=(\d+)",
        "--better", "higher", "--budget", "2h", "--", "/bin/sh", "-c", "echo rate=${RATE:-10} >&2",
    ]  # fmt: skip
    _, envelope = finished(tmp_path, *argv)
    found = verdicts(envelope)["double"]
    assert (found["verdict"], found["ratio"]) == ("FASTER", pytest.approx(0.5))


def test_ctrl_c_keeps_what_was_measured_and_names_the_way_on(tmp_path: Path) -> None:
    path, runs, go = tmp_path / "trial.json", tmp_path / "runs", tmp_path / "go"
    argv = ["--levers", "none", "--arm", "a=A=1", "--max-rounds", "12", "--json", str(path), "--seed", "3"]
    # The 12th run is one of round 3 to 5, before anything can be decided, and waits to be interrupted.
    script = f"echo >>'{runs}'; [ $(wc -l <'{runs}') -lt 12 ] || until [ -e '{go}' ]; do sleep 0.05; done"
    trial = subprocess.Popen(
        [sys.executable, "-m", "okosu", "try", *argv, "--", "/bin/sh", "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while not (runs.exists() and runs.read_text().count("\n") >= 12):
        time.sleep(0.05)
        assert trial.poll() is None
    os.killpg(trial.pid, signal.SIGINT)
    _, said = trial.communicate()
    go.touch()
    assert trial.returncode == 130
    assert f"--resume {shlex.quote(str(path))}" in said
    kept = json.loads(path.read_text())
    assert not kept["finished"]
    assert any(r["stage"] == "rounds" and len(r["samples"]) > 2 for r in kept["records"])
    done = okosu("try", "--resume", str(path))
    assert done.returncode == 0, done.stderr
    whole = json.loads(path.read_text())
    assert whole["finished"]
    before = {(r["stage"], r["lever"] or r["variant"], r["metric"]): r for r in kept["records"]}
    for record in whole["records"]:
        old = before.get((record["stage"], record["lever"] or record["variant"], record["metric"]))
        if old and record["stage"] == "rounds":
            complete = min(len(old["samples"]), len(record["samples"])) - 1
            assert record["samples"][:complete] == old["samples"][:complete]


def test_a_records_file_cut_in_the_middle_and_one_of_another_version(tmp_path: Path) -> None:
    _, _ = finished(tmp_path, *FEW, "--", "/bin/true")
    path = tmp_path / "trial.json"
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    cut = okosu("try", "--resume", str(path))
    assert (cut.returncode, "fix:" in cut.stderr) == (1, True)
    path.write_text(text.replace("okosu.try/3", "okosu.try/9", 1))
    newer = okosu("try", "--resume", str(path))
    assert newer.returncode == 1
    assert "okosu.try/9" in newer.stderr


def test_a_recommendation_is_applied_by_run_and_can_be_revalidated(tmp_path: Path) -> None:
    done, envelope = finished(
        tmp_path, "--levers", "none", "--arm", "quick=N=1", "--max-rounds", "40", "--", "/bin/sh", "-c",
        '[ -n "$N" ] || sleep 0.25',
    )  # fmt: skip
    assert verdicts(envelope)["quick"]["headline"], done.stdout
    assert done.stdout.splitlines()[-1].startswith("okosu run --env=N=1 -- /bin/sh")
    path = tmp_path / "trial.json"
    run = okosu("run", "--from", str(path), "--", "/bin/sh", "-c", "echo N=$N")
    assert (run.returncode, run.stdout) == (0, "N=1\n")
    envelope["machine"]["kernel"] = "1.0"
    path.write_text(json.dumps(envelope))
    warned = okosu("run", "--from", str(path), "--", "/bin/true")
    assert warned.returncode == 0
    assert "measured with kernel 1.0" in warned.stderr
    assert f"okosu try --revalidate {shlex.quote(str(path))}\n" in warned.stderr
    again = okosu("try", "--revalidate", str(path), "--json", str(tmp_path / "again.json"))
    assert again.returncode == 0, again.stderr
    (fresh,) = json.loads((tmp_path / "again.json").read_text())["verdicts"]
    assert (fresh["arm"], fresh["verdict"], fresh["headline"]) == ("quick", "FASTER", True)


RECIPE = """
name = "fast"
doc = "fewer turns"
changes = "ordering"
hazard = "the turns come in another order"
[recognise]
names = ["turns"]
[[arm]]
[[arm.value]]
name = "on"
env = { MODE = "fast" }
source = "turns(1)"
[proof]
said = { env = { V = "1" }, stderr = "^mode fast$" }
"""


def test_a_recipe_of_ones_own_is_recognised_proved_and_recommended_where_its_change_is_accepted(tmp_path: Path) -> None:
    program = tmp_path / "turns"
    program.write_text(
        # It sleeps for much longer than a busy machine keeps a process waiting, and takes no CPU of the other tests.
        '#!/bin/sh\n[ -z "$V" ] || echo mode ${MODE:-slow} >&2\n[ -n "$MODE" ] || sleep 0.25\n'
    )
    program.chmod(0o755)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/fast.toml").write_text(RECIPE)
    own = ("--recipes", str(tmp_path / "own"))
    planned = okosu("try", *own, "--dry-run", "--", str(program))
    assert "\nfast=on:\n" in planned.stdout, planned.stderr
    done, envelope = finished(tmp_path, *own, "--levers", "fast", "--max-rounds", "40", "--", str(program))
    assert (verdicts(envelope)["fast"]["verdict"], verdicts(envelope)["fast"]["headline"]) == ("FASTER", False)
    told = " ".join(done.stdout.split())
    assert "with MODE=fast; output identical here; ordering: the turns come in another order" in told
    assert "okosu run" not in told
    (tmp_path / "trial.json").unlink()
    done, envelope = tried(
        tmp_path, *own, "--levers", "fast", "--accept", "ordering", "--max-rounds", "40", "--", str(program)
    )
    assert done.stdout.splitlines()[-1] == f"okosu run --env=MODE=fast -- {shlex.quote(str(program))}"
    path = str(tmp_path / "trial.json")
    assert okosu("run", "--from", path, "--", "/bin/sh", "-c", "echo $MODE").stdout == "fast\n"
    again = okosu("try", "--revalidate", path, "--json", str(tmp_path / "again.json"))
    assert again.returncode == 0, again.stderr
    fresh = verdicts(json.loads((tmp_path / "again.json").read_text()))
    assert fresh["fast"]["headline"]
    assert "the runtime" in fresh["fast"]["proof"]


def test_json_on_stdout_is_the_whole_envelope(tmp_path: Path) -> None:
    done = okosu("try", *FEW, "--json", "-", "--", "/bin/true", XDG_STATE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert {v["arm"] for v in json.loads(done.stdout)["verdicts"]} == {"same"}
    assert "verdict" in done.stderr


def test_the_default_place_of_records_is_the_state_folder(tmp_path: Path) -> None:
    done = okosu("try", *FEW, "--", "/bin/true", XDG_STATE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "okosu").glob("*.json")
    assert str(path) in done.stderr


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    mark = f"okosu-test-{os.getpid()}"
    script = f"(sleep 300; : {mark}) & echo started"
    _, envelope = finished(tmp_path, *FEW, "--", "/bin/sh", "-c", script)
    assert verdicts(envelope)["same"]["rounds"] == 8
    alive = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            alive.append(line.read_text(errors="replace"))
    assert alive
    assert not [words for words in alive if mark in words]
    assert not list(Path(os.environ.get("TMPDIR", "/tmp")).glob("okosu-*/preload.jsonl"))


FEWER = ["--levers", "none", "--arm", "same=OKOSU_TEST=1", "--max-rounds", "2", "--budget", "2h", "--seed", "1"]


@pytest.mark.parametrize(("output", "kind"), [("pipe", "-p"), ("file", "-f"), ("null", "-c")])
def test_the_output_is_what_was_asked_for_and_compared_unless_it_is_null(
    tmp_path: Path, output: str, kind: str
) -> None:
    script = f"test {kind} /dev/fd/1 || exit 9; head -c ${{SIZE:-300000}} /dev/zero"
    _, envelope = finished(
        tmp_path, *FEWER, "--output", output, "--arm", "more=SIZE=300001", "--", "/bin/sh", "-c", script
    )
    wrong = verdicts(envelope)["more"]["verdict"] == "WRONG OUTPUT"
    assert wrong == (output != "null")
    assert verdicts(envelope)["same"]["rounds"] == 2


def test_a_number_that_is_the_metric_may_differ_in_the_output_and_nothing_else(tmp_path: Path) -> None:
    script = "read up rest </proc/uptime; echo took ${up}s, ${WORD:-whole}"
    _, envelope = finished(
        tmp_path, *FEWER, "--metric", r"regex:took ([\d.]+)s", "--better", "lower", "--arm", "bad=WORD=half", "--",
        "/bin/sh", "-c", script,
    )  # fmt: skip
    assert verdicts(envelope)["same"]["rounds"] == 2
    assert verdicts(envelope)["bad"]["verdict"] == "WRONG OUTPUT"


def test_records_are_named_first_and_an_earlier_file_is_replaced_only_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "trial.json"
    done, envelope = tried(tmp_path, *FEWER, "--", "/bin/true")
    assert done.stderr.splitlines()[0] == f"records: {path}"
    before = path.read_bytes()
    refused, _ = tried(tmp_path, *FEWER, "--", "/bin/true")
    assert (refused.returncode, path.read_bytes()) == (2, before)
    assert f"--force to replace it, or go on with it: okosu try --resume {shlex.quote(str(path))}" in refused.stderr
    _, again = finished(tmp_path, *FEWER, "--force", "--seed", "5", "--", "/bin/true")
    assert (again["plan"]["options"]["seed"], envelope["plan"]["options"]["seed"]) == (5, 1)


def test_processes_that_the_program_leaves_are_told_of(tmp_path: Path) -> None:
    done, _ = tried(tmp_path, *FEWER, "--", "/bin/sh", "-c", "sleep 300 & exec true")
    assert "note: the program leaves 1 process running, which okosu ends after each run" in done.stderr


def test_another_program_than_the_one_tried_is_warned_of(tmp_path: Path) -> None:
    tried(tmp_path, *FEWER, "--", "/bin/true")
    path = str(tmp_path / "trial.json")
    other = okosu("run", "--from", path, "--", "/bin/echo", "hello")
    assert (other.returncode, other.stdout) == (0, "hello\n")
    assert "it was measured with /bin/true, and this is /bin/echo" in other.stderr
    assert "measured with" not in okosu("run", "--from", path, "--", "true", "with", "arguments").stderr


@pytest.mark.parametrize("command", [["try", "--help"], ["run", "--from", "—", "--", "true"]])
def test_a_locale_without_the_characters_that_okosu_prints(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "okosu", *command],
        env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.stdout.isascii()
    assert done.stderr.isascii()
    assert b"[ARG...]" in done.stdout or b"fix:" in done.stderr
