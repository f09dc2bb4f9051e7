/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and jumps, each taken and not; what stands behind one that is taken has no effect; links. */
#include "isa.inc"

.macro taken name, a, b
    li      s0, 0
    \name   \a, \b, 1f
    addi    s0, s0, 1
    never
1:  check   s0, 0
.endm
.macro not_taken name, a, b
    li      s0, 0
    \name   \a, \b, 1f
    addi    s0, s0, 1
    j       2f
    addi    s0, s0, 2
1:  never
2:  check   s0, 1
.endm

begin:
    li      t0, 5
    li      t1, -5
    li      t2, 5
    li      t3, 0x80000000
    li      t4, 0x7fffffff
    taken       beq,  t0, t2
    not_taken   beq,  t0, t1
    taken       beq,  zero, zero
    taken       bne,  t0, t1
    not_taken   bne,  t0, t2
    taken       blt,  t1, t0
    taken       blt,  t3, t4
    not_taken   blt,  t0, t1
    not_taken   blt,  t0, t2
    not_taken   blt,  t4, t3
    taken       bge,  t0, t1
    taken       bge,  t0, t2
    taken       bge,  t4, t3
    not_taken   bge,  t1, t0
    not_taken   bge,  t3, zero
    taken       bltu, t0, t1
    taken       bltu, t4, t3
    not_taken   bltu, t1, t0
    not_taken   bltu, t0, t2
    taken       bgeu, t1, t0
    taken       bgeu, t0, t2
    taken       bgeu, t3, t4
    not_taken   bgeu, t0, t1
    not_taken   bgeu, zero, t0

    /* Backward branches, as in a loop, and to the next instruction. */
    li      a0, 10
    li      a1, 0
1:  add     a1, a1, a0
    addi    a0, a0, -1
    bnez    a0, 1b
    check   a1, 55
    beqz    a0, 1f
1:  bnez    a0, 2f
2:  jal     a2, 3f
3:  la      a0, 3b
    sub     a0, a0, a2
    check   a0, 0

    /* Jumps: what is written, where they go, and that nothing between is done. */
    li      s0, 0
    jal     ra, 1f
2:  addi    s0, s0, 1
    never
1:  la      a0, 2b
    sub     a0, a0, ra
    check   a0, 0
    check   s0, 0
    la      a1, 1f - 16
    jalr    a1, 16(a1)
2:  addi    s0, s0, 1
    never
1:  la      a0, 2b
    sub     a0, a0, a1
    check   a0, 0
    /* The lowest bit of a target does not count. */
    la      a1, 1f + 1
    jr      a1
    never
1:  la      a1, 1f + 5
    jalr    zero, -4(a1)
    never
1:  check   s0, 0

    /* A call, and a call that returns at once to where the link was just written. */
    li      a0, 20
    jal     double
    jal     double
    check   a0, 80
    jal     1f
    j       2f
1:  ret
2:
    /* A condition that was just computed, loaded, multiplied, or a link. */
    li      a0, 1
    addi    a0, a0, -1
    bnez    a0, 3f
    la      a1, word
    lw      a0, 0(a1)
    beqz    a0, 3f
    mul     a0, a0, a0
    li      a2, 49
    bne     a0, a2, 3f
    jal     a0, 1f
1:  la      a1, 1b
    bne     a0, a1, 3f
    jal     a0, 1f
1:  beqz    a0, 3f
    finish
3:  never
double:
    add     a0, a0, a0
    ret

    .data
    .align  2
word:
    .word   7
