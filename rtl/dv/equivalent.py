# SPDX-License-Identifier: Apache-2.0
"""Mutants that no program can tell from the original: the file, a part of the source line, operators of it, and why."""

from __future__ import annotations

_NO_RT = "the instruction's field of rt is 0, which is no register to wait for"
_SET_BEFORE = "an operation sets it before anything looks at it"
_BUSY = "HI and LO are looked at when the operation is over, and hold the last cycle's words then, too"
EQUIVALENT: tuple[tuple[str, str, tuple[str, ...], str], ...] = (
    ("cpu/decoder.sv", "branching(BranchLez,", ("1'b0",), _NO_RT),
    ("cpu/decoder.sv", "branching(BranchGtz,", ("1'b0",), _NO_RT),
    ("cpu/decoder.sv", "branching(BranchCop2False,", ("1'b0",), _NO_RT),
    ("cpu/decoder.sv", "branching(BranchJump,", ("1'b0",), "within the text a target's bits there are 0: " + _NO_RT),
    ("cpu/muldiv.sv", "dividing_q         <= 1'b0;", ("1'b0",), _SET_BEFORE),
    ("cpu/muldiv.sv", "negate_quotient_q  <= 1'b0;", ("1'b0",), _SET_BEFORE),
    ("cpu/muldiv.sv", "negate_remainder_q <= 1'b0;", ("1'b0",), _SET_BEFORE),
    ("cpu/muldiv.sv", "if (left_q == 6'd1)", ("condition", "=="), _BUSY),
    ("cpu/lsu.sv", "outside || !addr_i[31]", ("||",), "what is in no segment is outside memory, too"),
    ("cpu/lsu.sv", "we: 1'b1", ("1'b1",), "only of a burst the bus looks at it"),
    ("cpu/core.sv", "f_outside    = pc_q - ResetVector", ("-",), "2^31 added is 2^31 subtracted"),
    ("cpu/core.sv", "cop_reg < RegSwap", ("<",), "a write of SWAP is no operand already"),
    ("cpu/core.sv", "m_first_q            <= 1'b0;", ("1'b0",), "no instruction is there in the first cycle"),
)
