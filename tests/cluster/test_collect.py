# SPDX-License-Identifier: Apache-2.0
"""Trials of many machines: verdicts by kind and never over kinds, what is missing said in words, one chosen to use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from warm_okosu import okosu

from okosu import machine
from okosu.cli.main import dispatch
from okosu.cluster import collect
from okosu.machine import Machine
from okosu.records import schema
from okosu.records.collected import MIXED, Collected, Kind
from okosu.records.types import Arm, Tool, TryFile, Verdict

Put = Callable[..., Path]

SQUEUE = """\
#!/bin/sh
# Answers as squeue does: a job that it has forgotten is left out, and if all are, it fails.
echo "11|PENDING|Resources"
echo "12|RUNNING|None"
echo "15|COMPLETING|None"
echo "13|CANCELLED|None"
"""


def gathered(folder: Path, monkeypatch: pytest.MonkeyPatch, squeue: str = SQUEUE) -> collect.Gathered:
    """What collect finds in a folder with a squeue of ours; "" for none."""
    (tools := folder.parent / "bin").mkdir(exist_ok=True)
    if squeue:
        (tools / "squeue").write_text(squeue)
        (tools / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin" if squeue else str(tools))
    return collect.gather([folder])


def kinds(folder: Path) -> dict[str, Kind]:
    """The kinds of the only program in the folder, by id."""
    (program,) = collect.collected(collect.gather([folder])).programs
    return {kind.id: kind for kind in program.kinds}


def verdicts(kind: Kind) -> dict[str, str]:
    return {v.arm: v.verdict for v in kind.verdicts}


def test_trials_are_grouped_by_kind_and_each_kind_has_its_own_verdicts(
    tmp_path: Path, put: Put, machines: dict[str, Machine], trials: dict[str, TryFile]
) -> None:
    chase = trials["win"].plan.options.command
    slower = [msgspec.structs.replace(verdict, headline=False) for verdict in trials["win"].verdicts]
    for verdict in slower:
        if verdict.arm == "superpage":
            verdict.verdict, verdict.ratio, verdict.interval = "SLOWER", 1.2, (1.1, 1.3)
    put("n1-7.json", "win", "this-vm")
    put("n2-8.json", "win", "this-vm")
    put("big-9.json", "win", "server-2s4n", verdicts=slower)
    found = kinds(tmp_path / "records")
    here, there = found[machines["this-vm"].id], found[machines["server-2s4n"].id]
    assert [(one.node, one.job) for one in here.trials] == [("n1", "7"), ("n2", "8")]
    assert verdicts(here)["superpage"] == "FASTER"
    assert verdicts(there)["superpage"] == "SLOWER"
    assert "placebo" not in verdicts(here)
    assert here.recommended == ["okosu", "run", "--superpage=thp", "--pin=compact", "--", *chase]
    assert there.recommended is None
    assert here.facts["CPU"].startswith("AMD EPYC (family 26")
    # What another kind says changes nothing of a kind's own.
    (tmp_path / "records" / "big-9.json").unlink()
    assert kinds(tmp_path / "records")[here.id] == here


def test_a_kind_whose_trials_disagree_is_mixed_and_recommends_nothing(
    tmp_path: Path, put: Put, trials: dict[str, TryFile]
) -> None:
    other = [msgspec.structs.replace(v, headline=False) for v in trials["win"].verdicts]
    other = [
        msgspec.structs.replace(v, verdict="UNRESOLVED", ratio=0.9, interval=(0.5, 1.1)) if v.arm == "superpage" else v
        for v in other
        if v.arm != "jemalloc"
    ]
    put("n1-7.json", "win", "this-vm")
    put("n2-8.json", "win", "this-vm", verdicts=other)
    (kind,) = kinds(tmp_path / "records").values()
    of = {v.arm: v for v in kind.verdicts}
    assert of["superpage"].verdict == MIXED
    assert of["superpage"].counts == {"FASTER": 1, "UNRESOLVED": 1}
    assert of["superpage"].interval == (0.5, 1.1)
    # An arm that only one of them tried says what that one says.
    assert of["jemalloc"].counts == {"SLOWER": 1}
    assert kind.recommended is None
    shown = okosu("collect", str(tmp_path / "records")).stdout
    assert "superpage: 1 FASTER, 1 UNRESOLVED" in shown
    assert "1 of 2  SLOWER" in shown
    assert "its trials do not recommend the same" in shown


def test_different_programs_and_metrics_are_kept_apart(tmp_path: Path, put: Put) -> None:
    for at, name in enumerate(("win", "nothing", "extremes")):
        put(f"n1-{at}.json", name, "this-vm")
    found = collect.collected(collect.gather([tmp_path / "records"]))
    assert [(program.command[0], program.metric) for program in found.programs] == [
        ("./examples/chase", "wall"),
        ("./examples/spin", "wall"),
        ("sqlite3", "regex"),
    ]


def test_what_does_not_count_is_said_in_words_and_the_rest_is_counted(
    tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "records"
    put("n1-10.json", "win", "this-vm")
    put("n2-12.json", "unfinished", "this-vm", rounds=5)
    put("n3-13.json", "unfinished", "this-vm", rounds=5)
    put("old.json", "win", "this-vm")
    (folder / "old.json").write_text((folder / "old.json").read_text().replace("okosu.try/3", "okosu.try/1"))
    (folder / "cut-16.json").write_bytes((folder / "n1-10.json").read_bytes()[:5000])
    (folder / ".n4-17.json.x.tmp").write_text("{")
    (folder / "notes.txt").write_text("no record")
    for job in (10, 11, 12, 13, 14, 15):
        (folder / f"job-{job}.sh").write_text("#!/bin/sh\n")
    (folder / "job-18.sh").write_text("#!/bin/sh\n#SBATCH --array=1-2\n")
    (folder / "job-13.log").write_text("note\nslurmstepd: error: *** JOB 13 ON n3 CANCELLED AT 12:00 ***\n")
    (folder / "job-14.log").write_text("okosu: n5 has no /opt/okosu/bin/python: okosu must lie in a shared folder\n")
    (folder / "job-15.log").write_text("okosu: ./chase failed: exit status 3\n  why: bad\n  fix: mend it\n")
    found = gathered(folder, monkeypatch)
    assert [one.node for one in found.finished] == ["n1"]
    said = {one.name: f"{one.why} / {one.fix}" for one in found.absent}
    assert "waits in Slurm's queue (PENDING: Resources)" in said["job 11"]
    assert said["n2-12.json"].startswith("not finished after 5 rounds: it is running / once it has ended")
    assert "not finished after 5 rounds: Slurm says CANCELLED; its log ends: slurmstepd" in said["n3-13.json"]
    assert f"okosu try --resume {folder / 'n3-13.json'}" in said["n3-13.json"]
    assert "its job has ended; its log ends: okosu: n5 has no /opt/okosu/bin/python" in said["job 14"]
    assert "Slurm says COMPLETING; its log ends: okosu: ./chase failed: exit status 3; why: bad" in said["job 15"]
    assert "has the schema okosu.try/1" in said["old.json"]
    assert "is damaged at byte" in said["cut-16.json"]
    assert "its job has ended" in said["job 18_1"]
    assert sorted(said) == [
        "cut-16.json", "job 11", "job 14", "job 15", "job 18_1", "job 18_2", "n2-12.json", "n3-13.json", "old.json",
    ]  # fmt: skip


def test_without_slurm_whether_a_job_still_runs_is_not_guessed(
    tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("n2-12.json", "unfinished", "this-vm", rounds=1)
    (one,) = gathered(tmp_path / "records", monkeypatch, squeue="").absent
    assert (
        one.why
        == "not finished after 1 round: no squeue answers here, so whether its job still waits or runs is unknown"
    )


def test_a_folder_without_records_or_without_a_finished_one_is_said(tmp_path: Path, put: Put) -> None:
    done = okosu("collect", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "holds no record of `okosu try`" in done.stderr
    put("mine.json", "unfinished", "this-vm")
    done = okosu("collect", str(tmp_path / "records"))
    assert done.returncode == 1
    assert "mine.json: not finished after" in done.stdout
    assert okosu("collect", str(tmp_path / "none")).returncode == 1
    assert okosu("collect", str(tmp_path), "--", "true").returncode == 2


def test_the_table_and_the_json_say_the_same(tmp_path: Path, put: Put) -> None:
    put("n1-7.json", "win", "this-vm")
    put("big-9.json", "nothing", "server-2s4n")
    put("big-8.json", "win", "server-2s4n")
    folder = str(tmp_path / "records")
    done = okosu("collect", folder, "--json", str(tmp_path / "all.json"))
    assert done.returncode == 0, done.stderr
    # A command to copy is not broken.
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("  use: ")) <= 80
    assert "./examples/chase 4G --steps 20000000: 2 kinds of machine, 2 finished trials" in done.stdout
    assert "FASTER on 2 kinds" in done.stdout
    assert done.stdout.count("  base: 3.09 s\n") == 2
    assert "use: okosu run --superpage=thp --pin=compact -- ./examples/chase 4G" in done.stdout
    written: dict[str, Any] = json.loads((tmp_path / "all.json").read_text())
    jsonschema.validate(written, json.loads(schema.generate()["product/okosu.collected-1.json"]))
    read = msgspec.convert(written, Collected)
    assert all(kind.id in done.stdout for program in read.programs for kind in program.kinds)
    straight = okosu("collect", folder, "--json", "-")
    assert json.loads(straight.stdout)["programs"] == written["programs"]


def test_the_report_of_a_folder_shows_the_kinds_and_links_each_trial(
    tmp_path: Path, put: Put, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    from test_report_page import Page

    put("n1-7.json", "small", "this-vm")
    put("<b>-9.json", "small", "server-2s4n")
    (tmp_path / "records" / "job-8.sh").write_text("")
    # In this process, which has matplotlib loaded already where other tests of the page ran.
    assert dispatch(["report", str(tmp_path / "records")]) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(tmp_path / "records" / "report.html")
    assert "2 kinds of machine, 2 finished trials" in printed.err
    text = (tmp_path / "records" / "report.html").read_text()
    page = Page(text)
    assert (page.wrong, page.open) == ([], [])
    assert page.text.count("Kind ") == 2
    assert "job 8: no record" in page.text
    assert '<a href="#s2">n1 (n1-7.json)</a>' in text
    assert 'id="s2"' in text


def test_the_record_of_this_kind_of_machine_is_chosen(
    tmp_path: Path, put: Put, machines: dict[str, Machine], trials: dict[str, TryFile]
) -> None:
    folder, command = tmp_path / "records", ["/elsewhere/chase", "1G"]
    path = put("n1-7.json", "win", "this-vm", tool=Tool("okosu", "1", "2026-11-01T00:00:00Z"))
    put("big-9.json", "win", "server-2s4n", verdicts=[])
    put("x-10.json", "nothing", "this-vm")
    assert collect.choose(folder, machines["this-vm"], command).path == path
    later = put("n2-8.json", "win", "this-vm", tool=Tool("okosu", "1", "2026-11-02T00:00:00Z"))
    assert collect.choose(folder, machines["this-vm"], command).path == later
    put("n3-11.json", "win", "this-vm", verdicts=[])
    disagreeing = collect.choose(folder, machines["this-vm"], command)
    assert disagreeing.path is None
    assert "they do not recommend the same" in disagreeing.said[1]


def test_where_no_record_is_of_this_kind_the_nearest_is_named(
    tmp_path: Path, put: Put, machines: dict[str, Machine]
) -> None:
    here = machines["this-vm"]
    near = machine.stored(machine.facts(here) | {"glibc": "2.31"})
    put("n1-7.json", "win", near)
    put("big-9.json", "win", "server-2s4n")
    choice = collect.choose(tmp_path / "records", here, ["chase"])
    assert choice.path is None
    assert f"no trial of this kind of machine ({here.id})" in choice.said[0]
    assert choice.said[1] == f"nearest is n1-7.json: glibc 2.31 there, {here.glibc} here"
    assert f"okosu run --from {tmp_path}/records/n1-7.json" in choice.said[2]
    assert "its finished trials are of chase" in collect.choose(tmp_path / "records", here, ["gzip"]).said[0]


@pytest.mark.unspaced
def test_run_takes_the_levers_from_a_folder(tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    (tools := tmp_path / "bin").mkdir()
    (tools / "squeue").write_text(f"#!/bin/sh\necho asked >{tmp_path}/asked\n")
    (tools / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    (program := tmp_path / "chase").symlink_to("/bin/true")
    path = put("n1-7.json", "win", machine.read())
    envelope = json.loads(path.read_text())
    envelope["plan"]["options"]["command"] = [str(program)]
    path.write_text(json.dumps(envelope))
    (path.parent / "job-9.sh").write_text("")
    done = okosu("run", "--from", str(path.parent), "--dry-run", "--", str(program))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "sched_setaffinity" in done.stdout
    assert not (tmp_path / "asked").exists()
    (other := tmp_path / "sub").mkdir()
    (other / "x.json").write_text(path.read_text().replace(machine.read().kernel, "4.4.0"))
    said = okosu("run", f"--from={other}", "--", str(program))
    assert said.returncode == 0
    assert "kernel 4.4.0 there" in said.stderr


def test_run_says_where_another_command_line_is_recommended(tmp_path: Path, put: Put) -> None:
    arm = Arm("vs", "user", command=["./faster", "1G"])
    winner = Verdict(arm="vs", verdict="FASTER", ratio=0.5, interval=(0.4, 0.6), rounds=9, headline=True)
    path = put("n1-7.json", "small", machine.read(), verdicts=[winner])
    envelope = json.loads(path.read_text())
    envelope["plan"]["arms"] = [msgspec.to_builtins(arm)]
    path.write_text(json.dumps(envelope))
    (kind,) = kinds(path.parent).values()
    assert kind.recommended == ["./faster", "1G"]
    done = okosu("run", "--from", str(path), "--", "true")
    assert done.returncode == 0
    assert "recommends another command line: ./faster 1G; this one runs as it is" in done.stderr
