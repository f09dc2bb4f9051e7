# SPDX-License-Identifier: Apache-2.0
"""The machine in rtl/ as a platform: programs compiled and run on it, what they print and cost; traces and sweeps."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from papers.scheduling_hardware import cross_compile, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import HELLO, LIMIT, MACHINE, NEEDS, compiled, okosu

pytestmark = NEEDS


@pytest.fixture(scope="module")
def simulator() -> verilator.Simulator:
    return verilator.build(MACHINE)


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_output_arguments_and_status_come_back(tmp_path: Path, simulator: verilator.Simulator, backend: str) -> None:
    outcome = simulation.run(simulator, compiled(tmp_path, HELLO, "a", "b c", "", backend=backend), max_cycles=LIMIT)
    assert (outcome.stdout, outcome.stderr, outcome.status) == (b"[a]\n[b c]\n[]\n", b"same: 1\n", 7)
    assert (outcome.end, outcome.message) == ("exit", "")


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_every_cycle_of_every_pe_is_counted_once(tmp_path: Path, simulator: verilator.Simulator, backend: str) -> None:
    outcome = simulation.run(simulator, compiled(tmp_path, HELLO, backend=backend), max_cycles=LIMIT)
    assert len(outcome.counters) == MACHINE.pes
    for row in outcome.counters:
        assert row["idle"] + sum(sum(row[name].values()) for name in simulation.SECTIONS) == outcome.cycles
    first = outcome.counters[0]
    for section in ("create", "join", "library"):
        assert first[section]["execute"] > 0, section


def test_the_trace_tells_each_threads_life(tmp_path: Path, simulator: verilator.Simulator) -> None:
    trace = tmp_path / "trace.json"
    outcome = simulation.run(simulator, compiled(tmp_path, HELLO), max_cycles=LIMIT, trace=trace)
    events = json.loads(trace.read_text())["traceEvents"]
    names = [event.get("name", "") for event in events]
    assert any(name.startswith("create thread ") and name.endswith(" work") for name in names)
    assert any(name.startswith("block thread 0 waits for the end of thread ") for name in names)
    assert "wake thread 0" in names
    runs = [event for event in events if event["ph"] in "BE"]
    for pe in range(MACHINE.pes):
        kinds = [event["ph"] for event in runs if event["tid"] == pe]
        assert kinds == ["B", "E"] * (len(kinds) // 2)
    assert all(0 <= event["ts"] <= outcome.cycles for event in runs)
    counts = [event["args"] for event in events if event["ph"] == "C"]
    assert {"running": 1, "ready": 0, "waiting": 1} in counts
    assert max(sum(count.values()) for count in counts) == 2


def test_an_arrow_leads_to_every_start_from_what_caused_it(tmp_path: Path, simulator: verilator.Simulator) -> None:
    text = """\
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int go;
static void *work(void *a)
{
    pthread_mutex_lock(&m);
    while (!go)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return a;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (volatile int i = 2000; i; i--)
        ;
    pthread_mutex_lock(&m);
    go = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
"""
    trace = tmp_path / "trace.json"
    assert simulation.run(simulator, compiled(tmp_path, text), max_cycles=LIMIT, trace=trace).status == 0
    events = json.loads(trace.read_text())["traceEvents"]
    begins = {(event["tid"], event["ts"]) for event in events if event["ph"] == "B"}
    tails = {event["id"]: event for event in events if event["ph"] == "s"}
    heads = {event["id"]: event for event in events if event["ph"] == "f"}
    assert set(heads) <= set(tails)
    assert len(heads) >= 6
    for number, head in heads.items():
        assert (head["tid"], head["ts"]) in begins
        assert tails[number]["ts"] < head["ts"]
    # An arrow leads from a thread's exit to the start of the thread that waited for it.
    exits = {(event["tid"], event["ts"]) for event in events if event.get("name", "").startswith("exit")}
    assert exits & {(tail["tid"], tail["ts"]) for tail in tails.values()}


def test_the_trace_of_the_software_back_end_shows_the_parts_of_the_program(
    tmp_path: Path, simulator: verilator.Simulator
) -> None:
    trace = tmp_path / "trace.json"
    outcome = simulation.run(simulator, compiled(tmp_path, HELLO, backend="software"), max_cycles=LIMIT, trace=trace)
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] in "BE"]
    length = {pe: dict.fromkeys((*simulation.SECTIONS, "idle"), 0) for pe in range(MACHINE.pes)}
    for begin, end in ((a, b) for pe in length for a, b in pairs([event for event in events if event["tid"] == pe])):
        length[begin["tid"]][begin["name"]] += end["ts"] - begin["ts"]
    # A section's slices are as long as its counters say, but for the few cycles of an instruction's way to its end.
    for pe, row in enumerate(outcome.counters):
        assert abs(length[pe]["idle"] - row["idle"]) < outcome.cycles / 10
    assert length[0]["create"] > 0
    assert length[1]["idle"] > outcome.cycles / 3


def pairs(events: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    assert [event["ph"] for event in events] == ["B", "E"] * (len(events) // 2)
    return list(zip(events[::2], events[1::2], strict=True))


@pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")
def test_waveforms_cost_no_cycle(tmp_path: Path, simulator: verilator.Simulator) -> None:
    program, fst = compiled(tmp_path, HELLO), tmp_path / "waves.fst"
    outcome = simulation.run(verilator.build(MACHINE, waves=True), program, max_cycles=LIMIT, fst=fst)
    assert outcome.cycles == simulation.run(simulator, program, max_cycles=LIMIT).cycles
    assert fst.stat().st_size > 1000
    if shutil.which("fst2vcd"):
        vcd = subprocess.run(["fst2vcd", fst], capture_output=True, text=True, check=True).stdout
        scopes = [line.split()[2] for line in vcd.splitlines() if line.startswith("$scope")]
        assert {"machine", "u_ssh_m", "u_mem_bus", "gen_pe[0]", "gen_pe[1]", "u_core", "u_ssh_s"} <= set(scopes)
        assert re.search(r"\$var \w+ +32 \S+ pc_q\b", vcd)


def test_the_command_hands_over_output_and_status(tmp_path: Path, simulator: verilator.Simulator) -> None:
    (source := tmp_path / "hello.c").write_text(HELLO)
    words = ["--counters", str(tmp_path / "c.json"), "--json", str(tmp_path / "r.json"), "--", str(source), "x"]
    done = okosu(*words)
    assert (done.returncode, done.stdout, done.stderr) == (7, "[x]\n", "same: 1\n")
    counters = json.loads((tmp_path / "c.json").read_text())["counters"]
    told = json.loads((tmp_path / "r.json").read_text())
    assert len(counters) == 2
    assert (told["counters"], told["end"], told["status"], told["stdout"]) == (counters, "exit", 7, "[x]\n")
    assert told["khz"] > 0


@pytest.mark.parametrize("context", ["soft", "banked"])
def test_other_contexts_run_the_same_program(tmp_path: Path, context: str) -> None:
    machine = Machine(pes=4, context=context)
    outcome = simulation.run(verilator.build(machine), compiled(tmp_path, HELLO, "x"), max_cycles=LIMIT)
    assert (outcome.stdout, outcome.status) == (b"[x]\n", 7)
