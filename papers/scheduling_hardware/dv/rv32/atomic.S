/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on memory; reservations, and what ends one. */
#include "isa.inc"

/* `name` on a word that holds `old` gives that word, and leaves `new`. */
.macro leaves name, old, with, new
    li      a0, \old
    li      a1, \with
    sw      a0, 0(s0)
    \name   a2, a1, (s0)
    lw      a3, 0(s0)
    check   a2, \old
    check   a3, \new
    sw      a0, 0(s0)
    \name   a1, a1, (s0)
    check   a1, \old
.endm

begin:
    la      s0, words
    leaves  amoswap.w, 5, 7, 7
    leaves  amoadd.w,  5, -7, -2
    leaves  amoadd.w,  0x80000000, 0x80000000, 0
    leaves  amoxor.w,  0x0ff0, 0x00ff, 0x0f0f
    leaves  amoor.w,   0x0ff0, 0x00ff, 0x0fff
    leaves  amoand.w,  0x0ff0, 0x00ff, 0x00f0
    leaves  amomin.w,  -1, 1, -1
    leaves  amomin.w,  1, -1, -1
    leaves  amomax.w,  -1, 1, 1
    leaves  amomax.w,  0x7fffffff, 0x80000000, 0x7fffffff
    leaves  amominu.w, -1, 1, 1
    leaves  amominu.w, 1, -1, 1
    leaves  amomaxu.w, -1, 1, -1
    leaves  amomaxu.w, 1, -1, -1
    leaves  amoadd.w.aqrl, 1, 2, 3

    /* A reservation that nothing ends. */
    li      a0, 11
    li      a1, 12
    sw      a0, 0(s0)
    lr.w    a2, (s0)
    sc.w    a3, a1, (s0)
    lw      a4, 0(s0)
    check   a2, 11
    check   a3, 0
    check   a4, 12
    /* It holds for one store only. */
    sc.w    a3, a0, (s0)
    lw      a4, 0(s0)
    check   a3, 1
    check   a4, 12
    /* At another word it does not hold, and is lost. */
    addi    s1, s0, 4
    lr.w    a2, (s0)
    sc.w    a3, a0, (s1)
    check   a3, 1
    sc.w    a3, a0, (s0)
    check   a3, 1
    lw      a4, 4(s0)
    check   a4, 0
    /* The last one counts. */
    lr.w    a2, (s0)
    lr.w    a2, (s1)
    sc.w    a3, a0, (s1)
    check   a3, 0
    lw      a4, 4(s0)
    check   a4, 11
    lw      a4, 0(s0)
    check   a4, 12

    /* A count of a thousand, as a library counts. */
    li      t0, 1000
    sw      zero, 0(s0)
2:  lr.w    a0, (s0)
    addi    a0, a0, 1
    sc.w    a1, a0, (s0)
    bnez    a1, 2b
    addi    t0, t0, -1
    bnez    t0, 2b
    lw      a0, 0(s0)
    check   a0, 1000
    finish

    .data
    .align  2
words:
    .word   0, 0
