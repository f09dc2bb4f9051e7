/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and jumps, each taken and not, with its delay slot; links. */
#include "isa.inc"

/* `name a, b` or `name a` goes where it says, and its slot counts $s0 on. */
.macro taken name, a, b
    li      $s0, 0
    .ifb \b
    \name   \a, 1f
    .else
    \name   \a, \b, 1f
    .endif
    addiu   $s0, $s0, 1
    never
1:  check   $s0, 1
.endm
.macro not_taken name, a, b
    li      $s0, 0
    .ifb \b
    \name   \a, 1f
    .else
    \name   \a, \b, 1f
    .endif
    addiu   $s0, $s0, 1
    b       2f
    addiu   $s0, $s0, 2
1:  never
2:  check   $s0, 3
.endm

begin:
    li      $t0, 5
    li      $t1, -5
    li      $t2, 5
    li      $t3, 0x80000000
    taken       beq, $t0, $t2
    not_taken   beq, $t0, $t1
    taken       beq, $zero, $zero
    taken       bne, $t0, $t1
    not_taken   bne, $t0, $t2
    taken       blez, $t1
    taken       blez, $zero
    not_taken   blez, $t0
    taken       blez, $t3
    taken       bgtz, $t0
    not_taken   bgtz, $t1
    not_taken   bgtz, $zero
    taken       bltz, $t1
    taken       bltz, $t3
    not_taken   bltz, $t0
    not_taken   bltz, $zero
    taken       bgez, $t0
    taken       bgez, $zero
    not_taken   bgez, $t1

    /* Linking branches write $ra whether they are taken or not. */
    li      $ra, 0
    bltzal  $t1, 1f
    nop
4:  never
1:  la      $v0, 4b
    subu    $v0, $v0, $ra
    check   $v0, 0
    li      $ra, 0
    bltzal  $t0, 3f
    nop
4:  la      $v0, 4b
    subu    $v0, $v0, $ra
    check   $v0, 0
    li      $ra, 0
    bgezal  $t0, 1f
    nop
3:  never
1:  la      $v0, 3b
    subu    $v0, $v0, $ra
    check   $v0, 0
    li      $ra, 0
    bgezal  $t1, 3b
    nop
4:  la      $v0, 4b
    subu    $v0, $v0, $ra
    check   $v0, 0

    /* Backward branches, as in a loop. */
    li      $v0, 10
    li      $v1, 0
1:  addu    $v1, $v1, $v0
    addiu   $v0, $v0, -1
    bnez    $v0, 1b
    addiu   $v1, $v1, 100
    check   $v1, 1055

    /* Jumps. */
    li      $s0, 0
    j       1f
    addiu   $s0, $s0, 1
    never
1:  check   $s0, 1
    jal     1f
    addiu   $s0, $s0, 1
2:  never
1:  la      $v0, 2b
    subu    $v0, $v0, $ra
    check   $v0, 0
    check   $s0, 2
    la      $v0, 1f
    jr      $v0
    addiu   $s0, $s0, 1
    never
1:  check   $s0, 3
    la      $v0, 1f
    jalr    $v1, $v0
    addiu   $s0, $s0, 1
2:  never
1:  la      $v0, 2b
    subu    $v0, $v0, $v1
    check   $v0, 0
    check   $s0, 4
    /* A slot sees the link, and what it writes does not reach the branch. */
    jal     1f
    move    $v0, $ra
2:  never
1:  la      $v1, 2b
    subu    $v0, $v0, $v1
    check   $v0, 0
    li      $v0, 0
    beqz    $v0, 1f
    li      $v0, 1
    never
1:  check   $v0, 1
    la      $v0, 1f
    jr      $v0
    li      $v0, 0
    never
1:
    /* A condition that was just computed, loaded, or a link. */
    li      $v0, 1
    addiu   $v0, $v0, -1
    bnez    $v0, 2b
    nop
    la      $v1, word
    lw      $v0, 0($v1)
    beqz    $v0, 2b
    nop
    lw      $v0, 0($v1)
    nop
    beqz    $v0, 2b
    nop
    finish

    .data
    .align  2
word:
    .word   7
