/* SPDX-License-Identifier: Apache-2.0 */
/* A branch in a branch's delay slot, as INTERFACES.md says: both count, and the instruction where the first one goes is the
 * second one's delay slot. */
#define MACHINE_ONLY
#include "isa.inc"

begin:
    li      $s0, 0
    b       1f
    b       2f
    addiu   $s0, $s0, 64
1:  addiu   $s0, $s0, 1
    addiu   $s0, $s0, 32
2:  addiu   $s0, $s0, 2
    check   $s0, 3

    /* The first not taken: the second is an ordinary one. */
    li      $s0, 0
    bne     $zero, $zero, 1f
    b       2f
    addiu   $s0, $s0, 1
1:  addiu   $s0, $s0, 32
2:  addiu   $s0, $s0, 2
    check   $s0, 3

    /* The second not taken: on from where the first one goes. */
    li      $s0, 0
    b       1f
    bne     $zero, $zero, 2f
    addiu   $s0, $s0, 64
1:  addiu   $s0, $s0, 1
    addiu   $s0, $s0, 4
2:  addiu   $s0, $s0, 2
    check   $s0, 7

    /* A link in a slot: behind the slot's slot, as the text lies. */
    li      $s0, 0
    b       1f
    jal     2f
    nop
3:  addiu   $s0, $s0, 64
1:  addiu   $s0, $s0, 1
    addiu   $s0, $s0, 32
2:  la      $v0, 3b
    subu    $v0, $v0, $ra
    check   $v0, 0
    check   $s0, 1
    finish
