/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of SSH-s in custom-0; core_top.sv answers read number n with n * 0x9e3779b9, its register in the uppermost bits. */
#include "traps.inc"

.macro put number, register
    .insn r 0x0b, 0, \number, zero, \register, zero
.endm
.macro get register, number
    .insn r 0x0b, 1, \number, \register, zero, zero
.endm
.macro set number, register
    .insn r 0x0b, 2, \number, zero, \register, zero
.endm

begin:
    li      a0, 3
    get     a1, 7
    check   a1, 0x38000000
    put     0, a0
    put     16, a0
    get     a1, 6
    mv      a2, a1
    check   a2, 3 * 0x9e3779b9 & 0xffffffff ^ 6 << 27
    get     a1, 5
    add     a2, a1, a0
    check   a2, (4 * 0x9e3779b9 & 0xffffffff ^ 5 << 27) + 3
    set     5, a0

    /* A command waits for the store in front of it. */
    la      s6, word
    sw      a0, 0(s6)
    put     31, a0
    lw      a1, 0(s6)
    check   a1, 3

    /* There is no SWAP, and the fields that a request does not use are 0. */
    trapping
    put     4, a0
    trapped illegal
    trapping
    get     a1, 4
    trapped illegal
    set     4, a0
    trapping
    .insn r 0x0b, 3, 0, zero, a0, zero
    trapped illegal
    trapping
    .insn r 0x0b, 0, 32, zero, a0, zero
    trapped illegal
    trapping
    .insn r 0x0b, 0, 0, a1, a0, zero
    trapped illegal
    trapping
    .insn r 0x0b, 1, 0, a1, a0, zero
    trapped illegal
    trapping
    .insn r 0x0b, 2, 0, zero, a0, a0
    trapped illegal

    /* The guard of a stack's lowest KiB: slots of 4 KiB below the end of the data. */
    li      a0, 0x90040000
    li      a1, 12
    li      a2, 1
    set     0, a0
    set     1, a1
    set     6, a2
    li      s6, 0x9003f3fc
    trapping
    sw      a2, 0(s6)
    trapped store_fault
    trapping
    lw      a2, 0(s6)
    trapped load_fault
    trapping
    lr.w    a2, (s6)
    trapped load_fault
    sw      a2, 4(s6)
    set     6, zero
    sw      a2, 0(s6)
    finish

    .data
    .align  2
word:
    .word   0
