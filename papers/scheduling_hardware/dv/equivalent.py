# SPDX-License-Identifier: Apache-2.0
"""Mutants that no program can tell from the original: the file, a part of the source line, operators of it, and why."""

from __future__ import annotations

_NO_RT = "the instruction's field of rt is 0, which is no register to wait for"
_SET_BEFORE = "an operation sets it before anything looks at it"
_BUSY = "HI and LO are looked at when the operation is over, and hold the last cycle's words then, too"
_FIRST_CYCLE = "the first cycle sets it, and nobody looks before"
_SLOT = "it is looked at only while a thread is in the slot, and its dispatch sets it"
_NO_ERROR = (
    "no master asks for what is not there (LsuBusKnowsEveryAddressThatPassed), and what a write says is nobody's"
)
_BIT_0 = "the core clears bit 0 of each target"
_READ = "a word that is read without need: memory does nothing by it, and nobody takes it"
EQUIVALENT: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("rtl/cpu/decoder.sv", "branching(BranchLez,", ("1'b0",), _NO_RT),
    ("rtl/cpu/decoder.sv", "branching(BranchGtz,", ("1'b0",), _NO_RT),
    ("rtl/cpu/decoder.sv", "branching(BranchCop2False,", ("1'b0",), _NO_RT),
    (
        "rtl/cpu/decoder.sv",
        "branching(BranchJump,",
        ("1'b0",),
        "within the text a target's bits there are 0: " + _NO_RT,
    ),
    ("rtl/cpu/decoder_rv32.sv", "imm_o = {{12{instr_i[31]}}, instr_i[19:12]", ("1'b0",), _BIT_0),
    ("rtl/cpu/decoder_rv32.sv", "imm_o = {{20{instr_i[31]}}, instr_i[7], instr_i[30:25]", ("1'b0",), _BIT_0),
    ("rtl/cpu/decoder_rv32.sv", "decoded_o.uses_rt = 1'b0;", ("1'b0",), _NO_RT),
    ("rtl/cpu/muldiv.sv", "dividing_q         <= 1'b0;", ("1'b0",), _SET_BEFORE),
    ("rtl/cpu/muldiv.sv", "negate_quotient_q  <= 1'b0;", ("1'b0",), _SET_BEFORE),
    ("rtl/cpu/muldiv.sv", "negate_remainder_q <= 1'b0;", ("1'b0",), _SET_BEFORE),
    ("rtl/cpu/muldiv.sv", "ends  = busy_q && left_q == 6'd1", ("==",), _BUSY),
    ("rtl/cpu/lsu.sv", "outside || !coming_addr_i[31]", ("||",), "what is in no segment is outside memory, too"),
    ("rtl/cpu/lsu.sv", "we: 1'b1", ("1'b1",), "only of a burst the bus looks at it"),
    ("rtl/cpu/core.sv", "f_outside    = pc_q - ResetVector", ("-",), "2^31 added is 2^31 subtracted"),
    ("rtl/cpu/core.sv", "cop_reg < RegSwap", ("<",), "a write of SWAP is no operand already"),
    ("rtl/cpu/core.sv", "m_first_q            <= 1'b0;", ("1'b0",), "no instruction is there in the first cycle"),
    (
        "rtl/bus/mem_bus.sv",
        "assign others  = valid_i",
        ("<<",),
        "the turn comes to whoever had the last one after all others",
    ),
    (
        "rtl/bus/wishbone_bus.sv",
        "assign others  = valid_i",
        ("<<",),
        "the turn comes to whoever had the last one after all others",
    ),
    (
        "rtl/bus/wishbone_bus.sv",
        "if (answered && answered_q == '0) begin",
        ("&&",),
        "the first answer sets what was read before, and it is looked at no later than with the last",
    ),
    ("rtl/bus/wishbone_slave.sv", "assign mem_re_o = taken", ("&&",), _READ),
    ("rtl/bus/mem_bus.sv", "assign beat = req.kind", ("||",), "in the phases that differ memory is asked for nothing"),
    ("rtl/bus/sched_bus.sv", "locked_master_q <= 1'b0;", ("1'b0",), "it is looked at behind a message, which sets it"),
    ("rtl/bus/wide_bus.sv", "assign moves       = burst_q", ("&&",), "it is looked at in bursts only"),
    ("rtl/bus/wide_bus.sv", "assign mem_re_o    = burst_q", ("&&",), _READ),
    ("rtl/bus/wide_bus.sv", "error: mem_error_i", ("!=", "!"), _NO_ERROR),
    ("rtl/ssh/cpu_unit.sv", "creating_q     <= 1'b0;", ("1'b0",), "a creation's first message sets it"),
    ("rtl/ssh/cpu_unit.sv", "req_i.index < RegSwap", ("<",), "the core keeps SWAP to itself"),
    (
        "rtl/ssh/register_unit.sv",
        "assign has_place    = 1'b0;",
        ("1'b0",),
        "only LOCAL, which is built otherwise, looks at it",
    ),
    ("rtl/ssh/register_unit.sv", "running_q  <= 1'b0;", ("1'b0",), _FIRST_CYCLE),
    ("rtl/ssh/register_unit.sv", "whole_q    <= 1'b0;", ("1'b0",), _SLOT),
    ("rtl/ssh/register_unit.sv", "loaded_q   <= 1'b0;", ("1'b0",), _SLOT),
    ("rtl/ssh/register_unit.sv", "resident_q <= 1'b0;", ("1'b0",), "what loads the slot's thread sets it"),
    ("rtl/ssh/register_unit.sv", "loaded_q  <= 1'b0;", ("1'b0",), _SLOT),
    ("rtl/ssh/register_unit.sv", "loaded_q <= 1'b0;", ("1'b0",), _SLOT),
    (
        "rtl/ssh/register_unit.sv",
        "start_tid_q <= handle_q.tid;",
        ("condition",),
        "the slot has no other thread until START is sent",
    ),
    (
        "rtl/ssh/context_engine.sv",
        "moving_d         = 1'b0;",
        ("1'b0",),
        "no word is left of the last job, and word 0 is none",
    ),
    ("rtl/ssh/context_engine.sv", "word_q[0] ? BankHi : BankLo", ("condition",), "both are set to 0"),
    ("rtl/ssh/context_engine.sv", "is_moving_q <= 1'b0;", ("1'b0",), _FIRST_CYCLE),
    ("rtl/ssh/context_engine.sv", "if (start_i && !busy_q) begin", ("&&",), "between jobs nobody looks at them"),
    ("rtl/ssh/ssh_s.sv", "assign fresh     = run_o || take_next", ("||",), "who takes a thread by NEXT runs none"),
    ("rtl/ssh/message_unit.sv", "act.entry.has_home   = 1'b0;", ("1'b0",), "an id is granted anew with an empty entry"),
    ("rtl/ssh/waiting_unit.sv", "we: 1'b0,", ("1'b0",), "only of a burst the bus looks at it"),
    ("rtl/ssh/waiting_unit.sv", "claimed_d = 1'b0;", ("1'b0",), "the search that precedes each look sets it"),
    ("rtl/ssh/dispatcher.sv", "settled_q    <= 1'b1;", ("1'b1",), "no thread is ready before something has changed"),
    ("rtl/ssh/dispatcher.sv", "stirred_q    <= 1'b0;", ("1'b0",), "no thread is ready before something has changed"),
    ("rtl/ssh/pe_table.sv", "if (!rst_ni) low_o <= 1'b0;", ("1'b0",), "priorities count from the first POLICY on only"),
    ("rtl/ssh/ssh_m.sv", "assign chooses = 1'b0;", ("1'b0",), "where nothing is staged the table of PEs ignores it"),
    ("rtl/ssh/ssh_m.sv", "assign writes  = 1'b0;", ("1'b0",), "where nothing is staged an assertion alone looks at it"),
    ("rtl/ssh/ssh_m.sv", "out_more_q  <= 1'b0;", ("1'b0",), "the first message sets it"),
    (
        "rtl/ssh/ssh_m.sv",
        "out_more_q  <= !tail_valid",
        ("!",),
        "its second message is there at once, and SSH-m goes first",
    ),
    (
        "rtl/soc/cluster.sv",
        ".heard_valid_i(sched_valid_o",
        ("&&",),
        "what PEs say and what SSH-m says are different words",
    ),
    ("rtl/foreign/pcpi_ssh.sv", "cop2_req_o.index = {1'b0, number[3:0]};", ("1'b0",), "SSH-s looks at four bits of it"),
    ("rtl/foreign/pcpi_ssh.sv", "assign pcpi_wr_o", ("&&",), "what has no result names x0 as its register"),
    (
        "rtl/foreign/picorv32_pe.sv",
        "assign in_text = is_fetch && addr - TextBase",
        ("-",),
        "2^31 added is 2^31 subtracted",
    ),
    ("rtl/foreign/picorv32_pe.sv", "if (!rst_ni) fetched_q <= 1'b0;", ("1'b0",), _FIRST_CYCLE),
    ("rtl/foreign/picorv32_pe.sv", "we: wstrb != '0,", ("!=",), "only of a burst the bus looks at it"),
    ("rtl/foreign/picorv32_pe.sv", ".parked_i (1'b0)", ("1'b0",), "in mode SOFT nobody parks"),
    ("rtl/foreign/picorv32_pe.sv", ".mem_ready_i (1'b0)", ("1'b0",), "in mode SOFT the engine moves nothing"),
    (
        "rtl/foreign/picorv32_machine.sv",
        ".heard_valid_i(sched_valid",
        ("&&",),
        "what PEs say and what SSH-m says are different words",
    ),
    ("rtl/soc/pe.sv", "held_q   <= 1'b0;", ("1'b0",), "in the first cycle nobody asks"),
    ("rtl/soc/pe.sv", "engine_q <= 1'b0;", ("1'b0",), "it is looked at behind a cycle that sets it"),
    ("rtl/soc/shared_memory.sv", "assign in_memory = addr_i", ("<",), _NO_ERROR),
    ("rtl/soc/shared_memory.sv", "error_q  <= ", ("1'b0", "||", "!", "&&", "=="), _NO_ERROR),
    ("rtl/soc/shared_memory.sv", "print_o  <= 1'b0;", ("1'b0",), _FIRST_CYCLE),
    ("rtl/soc/shared_memory.sv", "stream_o <= 1'b0;", ("1'b0",), _FIRST_CYCLE),
    ("rtl/soc/shared_memory.sv", "exit_o   <= 1'b0;", ("1'b0",), _FIRST_CYCLE),
    ("rtl/soc/shared_memory.sv", "char_o   <= be_i[1]", ("condition",), "a byte is stored on all lanes"),
    ("rtl/bus/mem_bus.sv", "assign error = req.kind", ("!",), _NO_ERROR),
    ("rtl/bus/mem_bus.sv", "error_q <= 1'b0;", ("1'b0",), "each access sets it before it is looked at"),
    (
        "rtl/ssh/pe_table.sv",
        "told_q[at]    <= 1'b0;",
        ("1'b0",),
        "who starts there next sets it, and nobody looks before",
    ),
    ("rtl/bus/mem_bus.sv", "if (active && phase_q == 7'd1) begin", ("&&",), "only behind phase 1 they are looked at"),
)
