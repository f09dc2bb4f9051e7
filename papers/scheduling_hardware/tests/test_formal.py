# SPDX-License-Identifier: Apache-2.0
"""The output of proofs and of synthesis is read right; every bug to plant stands in its file once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab.tests import obeys
from okosu.cli.main import dispatch
from okosu.errors import OkosuError
from okosu.records.summary import Kept
from papers.scheduling_hardware import ROOM, cost_table, proving, synthesis, verilator
from papers.scheduling_hardware.dv import mutation, suites
from papers.scheduling_hardware.dv.mutants import Mutant
from papers.scheduling_hardware.formats import CallRecord
from papers.scheduling_hardware.machine import SCHEDULERS, Machine
from papers.scheduling_hardware.report import summary

FIFO = proving.find(["fifo:deep4"])[0]
SAID_PROVED = """\
SBY engine_0: Proved output 1 in frame 5.
SBY engine_0: Proved output  0 in frame 11.
SBY engine_0: Proved output 2 in frame -1726858368 (converged).
SBY engine_0: Proved output 3 in frame 5.
SBY engine_0: Proved output 4 in frame 5.
SBY DONE (PASS, rc=0)
"""
SAID_BROKEN = """\
SBY summary:   failed assertion fifo.\\u_properties.RoomIsWhatIsLeft at fifo_properties.sv:57.7-57.92 step 3
SBY DONE (FAIL, rc=2)
"""


def mapped(work: Path, names: tuple[str, ...]) -> None:
    (work / "model").mkdir()
    asserts = [[f"\\u_properties.{name}"] for name in sorted(names)]
    (work / "model/design_aiger.ywa").write_text(json.dumps({"asserts": asserts}))


def test_every_proof_has_properties_says_what_they_are_and_has_a_bug_to_find() -> None:
    proofs = proving.proofs()
    assert {proof.name for proof in proofs} >= {"rr_arbiter", "fifo", "mem_bus", "list_unit", "watch_unit", "core_rv32"}
    broken = {planted.proof for planted in proving.bugs()}
    for proof in proofs:
        assert len(proof.properties) >= 2
        assert proof.says
        assert proof.parameters
        assert proof.name in broken


def test_every_source_of_the_design_is_mutated_but_those_without_operators() -> None:
    assert len(suites.MUTATED) >= 32
    assert {*suites.SSH_M, *suites.THIN, *suites.ONLY, *suites.PROOFS} <= set(suites.MUTATED)
    sources = [line for line in verilator.design() if line.endswith(".sv")]
    assert all(name in sources for name in suites.UNCHANGED)
    assert suites.PROOFS["rtl/bus/fifo.sv"] == "fifo:deep4"


def test_an_unknown_proof_is_refused() -> None:
    with pytest.raises(OkosuError, match="no proof is called 'fifa'"):
        proving.find(["fifa"])


def test_what_was_proved_is_read_by_property(tmp_path: Path) -> None:
    mapped(tmp_path, FIFO.properties)
    result = proving.read(FIFO, tmp_path, SAID_PROVED, 1.0)
    assert result.verdict == "PASS"
    names = sorted(FIFO.properties)
    assert [result.frames[name] for name in names] == [11, 5, None, 5, 5]


def test_a_property_that_was_not_looked_at_is_no_proof(tmp_path: Path) -> None:
    mapped(tmp_path, FIFO.properties[1:])
    with pytest.raises(OkosuError, match=f"{FIFO.properties[0]} not among what was proved"):
        proving.read(FIFO, tmp_path, SAID_PROVED.replace("output 4", "output 3"), 1.0)


def test_a_property_that_breaks_is_named_with_its_cycle(tmp_path: Path) -> None:
    result = proving.read(FIFO, tmp_path, SAID_BROKEN, 1.0)
    assert (result.verdict, result.failed, result.step) == ("FAIL", "RoomIsWhatIsLeft", 3)


def test_an_induction_that_fails_is_a_failure_and_another_error_is_not(tmp_path: Path) -> None:
    proof = proving.find(["list_unit:threads4"])[0]
    said = "SBY base: ERROR: Called with -verify and proof did fail!\nSBY DONE (ERROR, rc=16)\n"
    assert proving.read(proof, tmp_path, said, 1.0).verdict == "FAIL"
    said = "SBY base: ERROR: syntax error\nSBY DONE (ERROR, rc=16)\n"
    result = proving.read(proof, tmp_path, said, 1.0)
    assert (result.verdict, result.said) == ("ERROR", "ERROR: syntax error")


@pytest.mark.parametrize("planted", proving.bugs(), ids=lambda planted: f"{planted.proof}: {planted.bug.says}")
def test_a_bug_is_planted_where_its_text_is_once(planted: proving.Planted) -> None:
    assert planted.bug.places((ROOM / planted.bug.file).read_text())
    assert proving.find([f"{planted.proof}:{planted.task}"])


def test_logic_cells_are_tables_carries_and_distributed_memory() -> None:
    cost = synthesis.cost({"LUT4": 10, "CCU2C": 3, "TRELLIS_DPR16X4": 2, "TRELLIS_FF": 5, "PFUMX": 7, "DP16KD": 1})
    assert (cost.logic, cost.ff, cost.ram, cost.dsp) == (10 + 6 + 8, 5, 1, 0)


def test_a_harness_reaches_every_pin_once() -> None:
    ports = {
        "clk_i": ("input", 1),
        "rst_ni": ("input", 1),
        "a_i": ("input", 3),
        "b_i": ("input", 2),
        "c_o": ("output", 4),
    }
    text = synthesis.harness("block", ports)
    for joined in (
        ".\\a_i (in_q[2:0])",
        ".\\b_i (in_q[4:3])",
        ".\\c_o (taken[3:0])",
        ".clk_i(clk_i)",
        ".rst_ni(rst_ni)",
    ):
        assert joined in text


def test_a_machine_is_the_sum_of_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [cost_table.pe("banked"), cost_table.ssh_s("banked"), cost_table.ssh_m(1, 64), cost_table.mem_bus(1)]
    cost = synthesis.cost({"LUT4": 100, "TRELLIS_FF": 10, "DP16KD": 2})
    monkeypatch.setattr(synthesis, "tools", lambda: {"pyosys": "1"})
    monkeypatch.setattr(synthesis, "synthesise", lambda block, say: cost)
    monkeypatch.setattr(synthesis, "route", lambda block, limit_s, say, seed: synthesis.Clock(None, None, limit_s))
    file = cost_table.measure([*names, cost_table.sched_bus(1)], [cost_table.ssh_s("banked")], 60.0)
    lines = cost_table.tables(file)
    assert "| 1 | 64 | 400 | 40 | 8 | 75 % |  |" in lines
    assert "| SSH-s, banked | not placed and routed within 60 s of processor time |  |" in lines
    told = obeys.its_schema(file)
    assert (told["schema"], told["blocks"][2]["parameters"]["Threads"]) == ("okosu.lab-synth/1", 64)
    assert summary.raw(told) == Kept(
        cost_table.sections(file), "okosu lab synth --limit 60s --json scheduling-hardware-synthesis.json"
    )


def test_a_machine_has_the_slower_clock_of_a_pe_and_its_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks, routes = cost_table.blocks(), cost_table.routes()
    clocks = dict.fromkeys((block.name for block in routes), 52.0)
    clocks |= {cost_table.ssh_m(8, 64).name: 18.5, cost_table.ssh_m(8, 16, "staged").name: 70.0}
    lost = cost_table.ssh_m(8, 256).name
    monkeypatch.setattr(synthesis, "tools", lambda: {"pyosys": "1"})
    monkeypatch.setattr(synthesis, "synthesise", lambda block, say: synthesis.cost({"LUT4": 1}))

    def route(block: synthesis.Block, limit_s: float, say: object, seed: int) -> synthesis.Clock:
        return synthesis.Clock(None if block.name == lost else clocks[block.name], 1, limit_s)

    monkeypatch.setattr(synthesis, "route", route)
    (machines,) = (one for one in cost_table.sections(cost_table.measure(blocks, routes)) if one.id == "machines")
    assert {(pes, threads): clock for pes, threads, *_, clock in machines.body} == {
        **{(str(pes), "64"): "" for pes in (1, 2, 4, 16)},
        ("8", "16"): "52.0 MHz",
        ("8", "64"): "18.5 MHz",
        ("8", "256"): "",
        ("8", "16, staged"): "52.0 MHz",
        ("8", "64, staged"): "52.0 MHz",
        ("8", "256, staged"): "52.0 MHz",
    }


def test_a_call_takes_its_cycles_at_the_slower_clock_of_a_pe_and_the_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = cost_table.timed()
    pe, direct, staged = blocks
    assert ("Staged", 1) in staged.parameters
    assert direct.parameters == staged.parameters[:-1]
    clocks: dict[str, float | None] = {pe.name: 50.0, direct.name: 20.0, staged.name: 62.5}
    monkeypatch.setattr(synthesis, "tools", lambda: {"pyosys": "1"})
    monkeypatch.setattr(synthesis, "synthesise", lambda block, say: synthesis.cost({"LUT4": 100}))

    def route(block: synthesis.Block, limit_s: float, say: object, seed: int) -> synthesis.Clock:
        return synthesis.Clock(clocks[block.name], 1, limit_s)

    monkeypatch.setattr(synthesis, "route", route)
    called = [
        CallRecord(scheduler=scheduler, name=name, cycles=19 + more)
        for more, scheduler in enumerate(SCHEDULERS)
        for name in cost_table.CALLS
    ]
    file = cost_table.measure(blocks, blocks, called=called)
    times = cost_table.sections(file)[-1]
    assert times.id == "times"
    assert times.head[1:] == ["direct, cycles", "direct, time", "staged, cycles", "staged, time"]
    assert times.body[0] == ["the clock", "", "20.0 MHz", "", "50.0 MHz"]
    assert times.body[2] == ["pthread_join of a thread that has ended", "19", "950 ns", "20", "400 ns"]
    assert len(times.body) == 1 + len(cost_table.CALLS)
    told = obeys.its_schema(file)
    kept = summary.raw(told)
    assert kept is not None
    assert kept.command == "okosu lab synth --times --json scheduling-hardware-times.json"
    again = summary.raw(obeys.its_schema(cost_table.measure(blocks, blocks, called=called, seeds=3)))
    assert again is not None
    assert again.command == "okosu lab synth --times --seeds 3 --json scheduling-hardware-times.json"
    # A scheduler that was not routed has no times.
    clocks[staged.name] = None
    times = cost_table.sections(cost_table.measure(blocks, blocks, 60.0, called=called))[-1]
    assert times.head[1:] == ["direct, cycles", "direct, time"]
    assert times.body[2] == ["pthread_join of a thread that has ended", "19", "950 ns"]
    # Nor has any, where the PE was not.
    clocks[pe.name] = None
    assert [one.id for one in cost_table.sections(cost_table.measure(blocks, blocks, 60.0, called=called))] == [
        "blocks",
        "clocks",
    ]


def test_the_clock_is_that_of_the_first_seed_and_the_others_say_how_far_chance_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached = {1: 52.0, 2: 54.5, 3: None, 4: 51.5}

    def route(block: synthesis.Block, limit_s: float, say: object, seed: int) -> synthesis.Clock:
        return synthesis.Clock(reached[seed], 1000, limit_s)

    monkeypatch.setattr(synthesis, "tools", lambda: {"pyosys": "1"})
    monkeypatch.setattr(synthesis, "route", route)
    pe = cost_table.pe("banked", "rv32")
    assert ("Rv32", 1) in pe.parameters
    (clocks,) = cost_table.sections(cost_table.measure([], [pe], 60.0, seeds=4))[1:]
    assert clocks.body == [["PE, banked, rv32", "52.0 MHz (4 seeds: 51.5 to 54.5, 1 not routed)", "1,000"]]
    (clocks,) = cost_table.sections(cost_table.measure([], [pe], 60.0))[1:]
    assert clocks.body == [["PE, banked, rv32", "52.0 MHz", "1,000"]]


def test_scores_of_mutation_are_written_by_their_schema_beside_those_of_other_suites(tmp_path: Path) -> None:
    mutants = [Mutant(n, "bus/fifo.sv", 3 + n, 7, "&&", "||", "a && b") for n in range(3)]
    path = tmp_path / "rtl-mutation.json"
    mutation.record(path, [mutation.Result(one, by) for one, by in zip(mutants, ("sum: 3", "sum: 4", ""), strict=True)])
    other = Mutant(9, "rtl/cpu/alu.sv", 1, 1, "+", "-", "a + b")
    mutation.record(path, [mutation.Result(other, "arith: 1")])
    told = obeys.its_schema(path.read_bytes())
    assert told["files"]["bus/fifo.sv"] == {"found": 2, "left": 1, "equivalent": 0, "by": {"sum": 2}}
    assert told["left"] == {"bus/fifo.sv": ["5:7 && -> ||: a && b"], "rtl/cpu/alu.sv": []}
    kept = summary.raw(told)
    assert kept is not None
    assert [row[:3] for row in kept.sections[0].body] == [
        ["`bus/fifo.sv`", "2", "3"],
        ["`cpu/alu.sv`", "1", "1"],
        ["all", "3", "4"],
    ]


def test_what_was_not_found_is_examined_again_and_its_scores_are_amended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutants = [Mutant(n, "rtl/bus/fifo.sv", 3 + n, 7, "&&", "||", f"{n} && b") for n in range(4)]
    path = tmp_path / "rtl-mutation.json"
    mutation.record(path, [mutation.Result(one, "" if one.number else "sum: 3") for one in mutants])
    assert mutation.left(path, [*mutants, Mutant(9, "rtl/cpu/alu.sv", 1, 1, "+", "-", "a + b")]) == mutants[1:]
    monkeypatch.setattr(mutation, "EQUIVALENT", (("rtl/bus/fifo.sv", "2 && b", ("&&",), "why"),))
    mutation.amend(path, [mutation.Result(one, "proof fifo" if one.number == 1 else "") for one in mutants[1:]])
    told = obeys.its_schema(path.read_bytes())
    fifo = {"found": 2, "left": 1, "equivalent": 1, "by": {"sum": 1, "proof fifo": 1}}
    assert told["files"] == {"rtl/bus/fifo.sv": fifo}
    assert told["left"] == {"rtl/bus/fifo.sv": ["6:7 && -> ||: 3 && b"]}
    assert mutation.left(path, mutants) == mutants[3:]


def test_no_model_of_ssh_m_lies_where_a_machine_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine is called as a scheduler is: "staged"."""
    (simulator := tmp_path / "machine").write_text("")

    def lockstep(room: Path, folder: Path, *how: object) -> Path:
        folder.mkdir()
        (folder / suites.sched_bench.PROGRAM).write_text("")
        return folder / suites.sched_bench.PROGRAM

    built = suites.verilator.Simulator(simulator, Machine(), checked=True, waves=False, key="", verilator="")
    monkeypatch.setattr(suites.verilator, "build", lambda machine, **how: built)
    monkeypatch.setattr(suites.sched_bench, "model", lambda folder: [])
    monkeypatch.setattr(suites.sched_bench, "build", lockstep)
    monkeypatch.setattr(suites.cycles.Point, "compiled", lambda point: Path(point.source))
    suite = suites.SchedSuite(tmp_path / "suite")
    assert suite.build()
    assert all((suite.folder / name).is_file() for name in suites.cycles.MACHINES)
    assert [path.parent.name for path in suite.lockstep if path.is_file()] == ["direct", "staged"]


@pytest.mark.parametrize("only", [[], ["rtl/bus/wishbone_bus.sv"], ["rtl/bus/wishbone_bus.sv", "rtl/soc/pe.sv"]])
def test_only_the_machine_is_built_that_has_the_blocks(only: list[str], tmp_path: Path) -> None:
    machines = suites.MachineSuite(tmp_path, only=only).machines()
    assert machines == (("wishbone",) if len(only) == 1 else tuple(suites.cycles.MACHINES))


@pytest.mark.parametrize(("words", "part", "status"), [([], "proofs", 1), (["--bugs"], "bugs", 0)])
def test_proofs_and_bugs_are_written_by_their_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], part: str, status: int
) -> None:
    result = proving.read(FIFO, tmp_path, SAID_BROKEN, 1.0)
    monkeypatch.setattr(proving, "tools", lambda: {"pyosys": "1"})
    monkeypatch.setattr(proving, "prove", lambda proof, say: result)
    monkeypatch.setattr(proving, "plant", lambda planted, say: result)
    assert dispatch(["lab", "formal", "fifo:deep4", *words, "--json", str(tmp_path / "f.json")]) == status
    told = obeys.its_schema((tmp_path / "f.json").read_text())
    assert set(told) == {"schema", "versions", part}
    assert {(one["task"], one["failed"], one["step"]) for one in told[part]} == {("deep4", "RoomIsWhatIsLeft", 3)}
