/* SPDX-License-Identifier: Apache-2.0 */
/* Status and its stack, Cause's software interrupts, EPC, PRId; what cannot be written. */
#include "traps.inc"

#define ENABLE_SOFTWARE 0x301

begin:
    mfc0    $v0, $15
    check   $v0, 0xf001
    li      $t0, -1
    mtc0    $t0, $15
    mfc0    $v0, $15
    check   $v0, 0xf001
    mfc0    $v0, $7
    check   $v0, 0
    mtc0    $t0, BAD_VADDR
    mfc0    $v0, BAD_VADDR
    check   $v0, 0
    li      $t1, 0x12345678
    mtc0    $t1, EPC
    mfc0    $v0, EPC
    check   $v0, 0x12345678

    /* Only the interrupt mask and the stack can be written. */
    li      $t1, 0xfffffffe
    mtc0    $t1, STATUS
    mfc0    $v0, STATUS
    check   $v0, 0xff3e
    /* rfe pops the stack, and leaves the old bits as they are. */
    rfe
    mfc0    $v0, STATUS
    check   $v0, 0xff3f
    li      $t1, 0x14
    mtc0    $t1, STATUS
    rfe
    mfc0    $v0, STATUS
    check   $v0, 0x15
    rfe
    mfc0    $v0, STATUS
    check   $v0, 0x15
    mtc0    $zero, STATUS

    /* A trap pushes. */
    li      $t1, 0x0a
    mtc0    $t1, STATUS
    trapping
    syscall
    trapped CODE(is_syscall)
    check   $s4, 0x28
    mfc0    $v0, STATUS
    check   $v0, 0x2a
    mtc0    $zero, STATUS

    /* Of Cause only the software interrupts' bits can be written. */
    mtc0    $t0, CAUSE
    mfc0    $v0, CAUSE
    andi    $v0, $v0, 0xff00
    check   $v0, 0x0300
    /* No interrupt comes while interrupts are off, or masked. */
    la      $s3, 1f
    li      $s5, 0
    nop
    li      $t1, 0x300
    mtc0    $t1, STATUS
    nop
    nop
    li      $t1, 1
    mtc0    $t1, STATUS
    nop
    nop
1:  check   $s5, 0
    /* The interrupt comes before the next instruction. */
    la      $s3, 9f
    li      $t1, ENABLE_SOFTWARE
    li      $v1, 0
    mtc0    $t1, STATUS
8:  addiu   $v1, $v1, 1
    trapped 0x300
    check   $v1, 0
    mfc0    $v0, STATUS
    check   $v0, ENABLE_SOFTWARE

    /* An interrupt in a delay slot returns to the branch. */
    li      $t1, 0x100
    la      $s3, 9f
    li      $s5, 0
    mtc0    $t1, CAUSE
8:  nop
    trapped 0x100
    li      $s5, 0
    la      $s3, 9f
    li      $t1, 0x200
8:  b       1f
    mtc0    $t1, CAUSE
1:  never
9:  check   $s5, 1
    la      $v0, 1b
    subu    $v0, $v0, $s0
    check   $v0, 0
    check   $s1, 0x200

    /* The interrupt does not wait: the load or division before which it comes has not begun. */
    la      $t2, word
    li      $v1, 3
    la      $s3, 9f
    li      $s5, 0
    li      $t1, 0x100
    mtc0    $t1, CAUSE
8:  lw      $v1, 0($t2)
    trapped 0x100
    check   $v1, 3
    li      $v1, 5
    mtlo    $v1
    la      $s3, 9f
    li      $s5, 0
    mtc0    $t1, CAUSE
8:  mtlo    $zero
    trapped 0x100
    mflo    $v0
    check   $v0, 5
    mtc0    $zero, STATUS

    /* Coprocessor 0 usable by everybody: there is no user mode. */
    li      $t1, 2
    mtc0    $t1, STATUS
    mfc0    $v0, STATUS
    check   $v0, 2
    finish

    .data
    .align  2
word:
    .word   9
