/* SPDX-License-Identifier: Apache-2.0 */
/* Moves to and from coprocessor 2, branches on its condition (the buffer has room here), and what must not stand in a delay slot. What is
 * read and written the golden simulator compares. */
#include "traps.inc"

begin:
    li      $t0, 0x1234abcd
    mtc2    $t0, $4
    mfc2    $v0, $4
    check   $v0, 0x1234abcd
    mtc2    $zero, $4
    mfc2    $v1, $4
    addiu   $v1, $v1, 1
    check   $v1, 1

    /* The next instruction may use the word that was read. */
    mfc2    $v0, $6
    addu    $v1, $v0, $zero
    subu    $v0, $v0, $v1
    check   $v0, 0
    mfc2    $zero, $5
    check   $zero, 0

    /* Writes of operands, a command and a setting. */
    mtc2    $t0, $0
    mtc2    $t0, $1
    mtc2    $t0, $2
    mtc2    $t0, $3
    mtc2    $t0, $22
    mfc2    $v0, $5
    mfc2    $v0, $6
    ctc2    $t0, $5
    /* Setting 4 is not SWAP. */
    ctc2    $t0, $4
    mfc2    $v0, $4
    check   $v0, 0

    bc2t    1f
    nop
    never
1:  bc2f    1f
    nop
    b       2f
    nop
1:  never
2:  /* An operand or a read may stand in a slot, a command may not. */
    li      $v0, 0
    b       1f
    mtc2    $t0, $4
    never
1:  b       1f
    mfc2    $v0, $4
    never
1:  check   $v0, 0x1234abcd
    trapping
    b       1f
    mtc2    $t0, $20
1:  trapped (BD | CODE(reserved))
    trapping
    jal     1f
    mtc2    $zero, $31
1:  trapped (BD | CODE(reserved))
    b       1f
    ctc2    $t0, $31
    never
1:
    /* A command waits for the store, and for the quotient, in front of it. */
    la      $t1, word
    li      $t2, 100
    li      $t3, 7
    div     $zero, $t2, $t3
    sw      $t2, 0($t1)
    mtc2    $t0, $16
    mflo    $v0
    check   $v0, 14
    lw      $v0, 0($t1)
    check   $v0, 100

    /* Encodings that do not exist. */
    trapping
    .word   0x49020001
    trapped CODE(reserved)
    trapping
    .word   0x48400000
    trapped CODE(reserved)
    trapping
    .word   0x4a000000
    trapped CODE(reserved)
    finish

    .data
    .align  2
word:
    .word   0
