/* SPDX-License-Identifier: Apache-2.0 */
/* CSRs: what each keeps, the three ways to write, the counters; traps and the interrupt enable; who the core is. */
#include "traps.inc"

.macro keeps csr, written, read
    li      a0, \written
    csrw    \csr, a0
    csrr    a1, \csr
    check   a1, \read
.endm

begin:
    csrr    a0, mtvec
    check   a0, 0x80000080
    csrr    a0, mstatus
    check   a0, 0x1800
    csrr    a0, misa
    check   a0, 0x40001101
    csrr    a0, mie
    check   a0, 0
    csrr    a0, mip
    check   a0, 0
    csrr    a0, mhartid
    check   a0, 1
    csrr    a0, mimpid
    check   a0, 0xf001
    csrr    a0, mvendorid
    check   a0, 0
    csrr    a0, marchid
    check   a0, 0

    keeps   mscratch, 0xdeadbeef, 0xdeadbeef
    keeps   mepc, -1, -4
    keeps   mcause, -1, 0x8000001f
    keeps   mtval, -1, -1
    keeps   mie, -1, 0x800
    keeps   mie, 0, 0
    keeps   mstatus, -1, 0x1888
    keeps   mstatus, 0, 0x1800
    keeps   misa, 0, 0x40001101
    keeps   mip, -1, 0
    keeps   mstatush, -1, 0

    li      a0, 0xff00ff00
    csrw    mscratch, a0
    li      a1, 0x0ff00ff0
    csrrs   a2, mscratch, a1
    check   a2, 0xff00ff00
    csrrc   a2, mscratch, a1
    check   a2, 0xfff0fff0
    csrrw   a2, mscratch, a1
    check   a2, 0xf000f000
    csrrwi  a2, mscratch, 31
    check   a2, 0x0ff00ff0
    csrrci  a2, mscratch, 5
    check   a2, 31
    csrrsi  a2, mscratch, 1
    check   a2, 26
    csrrs   a2, mscratch, zero
    check   a2, 27
    csrrwi  zero, mscratch, 0
    csrr    a2, mscratch
    check   a2, 0
    /* One that was just written, and one by a register that was. */
    csrrwi  a2, mscratch, 9
    csrrw   a2, mscratch, a2
    csrrw   a2, mscratch, a2
    check   a2, 0
    csrr    a2, mscratch
    check   a2, 9

    /* Each instruction in front is counted. */
    csrr    a0, minstret
    nop
    mul     a2, a0, a0
    csrr    a1, minstret
    sub     a1, a1, a0
    check   a1, 3
    li      a0, 100
    csrw    minstret, a0
    csrr    a1, minstret
    csrr    a2, minstret
    check   a1, 100
    check   a2, 101
    li      a0, -1
    csrw    minstreth, zero
    csrw    minstret, a0
    nop
    csrr    a1, minstret
    csrr    a2, minstreth
    check   a1, 0
    check   a2, 1
    /* The instruction that writes one half is not counted in the other one. */
    csrw    minstret, a0
    csrw    minstreth, a0
    nop
    csrr    a1, minstret
    csrr    a2, minstreth
    check   a1, 0
    check   a2, 0
    csrr    a0, mcycle
    nop
    csrr    a1, mcycle
    sub     a1, a1, a0
    check   a1, 2
    li      a0, -1
    csrw    mcycleh, zero
    csrw    mcycle, a0
    nop
    csrr    a1, mcycleh
    check   a1, 1

    /* A trap keeps the interrupt enable in MPIE and clears it, mret brings it back and sets MPIE. */
    csrsi   mstatus, 8
    trapping
    ecall
    trapped is_call
    check   s4, 0x1880
    csrr    a0, mstatus
    check   a0, 0x1888
    csrw    mstatus, zero
    trapping
    ecall
    trapped is_call
    check   s4, 0x1800
    csrr    a0, mstatus
    check   a0, 0x1880
    /* The vector's mode is direct. */
    la      a0, elsewhere + 1
    csrw    mtvec, a0
    csrr    a1, mtvec
    sub     a0, a0, a1
    check   a0, 1
    ecall
    never
elsewhere:
    csrr    a0, mcause
    check   a0, is_call
    wfi
    finish
