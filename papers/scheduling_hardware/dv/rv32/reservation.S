/* SPDX-License-Identifier: Apache-2.0 */
/* What ends a reservation on this core, where RISC-V leaves it open: doc/INTERFACES.md. */
#include "traps.inc"

/* After `text` the conditional store at s6 fails. */
.macro ends text:vararg
    lr.w    a2, (s6)
    \text
    sc.w    a3, a0, (s6)
    check   a3, 1
.endm
.macro keeps text:vararg
    lr.w    a2, (s6)
    \text
    sc.w    a3, a0, (s6)
    check   a3, 0
.endm

begin:
    la      s6, words
    addi    s7, s6, 4
    li      a0, 1
    ends    sw a0, 0(s6)
    ends    sb a0, 3(s6)
    ends    amoswap.w a2, a0, (s6)
    ends    amoadd.w a2, a0, (s6)
    ends    amoadd.w a2, a0, (s7)
    keeps   sw a0, 0(s7)
    keeps   amoswap.w a2, a0, (s7)
    keeps   lw a2, 0(s6)
    keeps   fence

    /* A trap, and the return from one. */
    lr.w    a2, (s6)
    trapping
    ecall
    trapped is_call
    sc.w    a3, a0, (s6)
    check   a3, 1
    la      a1, 1f
    csrw    mepc, a1
    lr.w    a2, (s6)
    mret
1:  sc.w    a3, a0, (s6)
    check   a3, 1
    finish

    .data
    .align  2
words:
    .word   0, 0
