/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of operations on memory: the first one behind reset takes no longer than others, and a conditional store that nothing reserved
 * takes none of the bus. */
#define MACHINE_ONLY
#include "isa.inc"

.macro times reg, text:vararg
    csrr    t0, mcycle
    \text
    csrr    \reg, mcycle
    sub     \reg, \reg, t0
.endm

begin:
    la      s0, words
    li      a0, 1
    lw      a1, 0(s0)
    times   s1, amoadd.w a2, a0, (s0)
    times   s2, amoadd.w a3, a0, (s0)
    sub     s1, s1, s2
    check   s1, 0
    check   a2, 5
    check   a3, 6

    times   s1, sc.w a2, a0, (s0)
    times   s2, addi a3, zero, 1
    sub     s1, s1, s2
    check   s1, 0
    check   a2, 1
    lw      a1, 0(s0)
    check   a1, 7
    finish

    .data
    .align  2
words:
    .word   5
