/* SPDX-License-Identifier: Apache-2.0 */
/* Addition, subtraction and comparison. */
#include "isa.inc"

begin:
    li      $t0, 0x7fffffff
    li      $t1, 1
    li      $t2, -1
    li      $t3, 0x80000000
    li      $t4, 0x12345678

    addu    $v0, $t0, $t1
    check   $v0, 0x80000000
    addu    $v0, $t2, $t1
    check   $v0, 0
    add     $v0, $t4, $t2
    check   $v0, 0x12345677
    add     $v0, $t3, $t0
    check   $v0, -1
    addiu   $v0, $t0, -1
    check   $v0, 0x7ffffffe
    addiu   $v0, $zero, -32768
    check   $v0, 0xffff8000
    addiu   $v0, $t0, 32767
    check   $v0, 0x80007ffe
    addi    $v0, $t3, 32767
    check   $v0, 0x80007fff
    addi    $v0, $t0, -32768
    check   $v0, 0x7fff7fff

    subu    $v0, $t3, $t1
    check   $v0, 0x7fffffff
    subu    $v0, $zero, $t3
    check   $v0, 0x80000000
    sub     $v0, $t1, $t2
    check   $v0, 2
    sub     $v0, $t2, $t0
    check   $v0, 0x80000000
    subu    $v0, $t4, $t4
    check   $v0, 0

    slt     $v0, $t3, $t0
    check   $v0, 1
    slt     $v0, $t0, $t3
    check   $v0, 0
    slt     $v0, $t2, $t1
    check   $v0, 1
    slt     $v0, $t1, $t1
    check   $v0, 0
    slt     $v0, $t2, $zero
    check   $v0, 1
    sltu    $v0, $t3, $t0
    check   $v0, 0
    sltu    $v0, $t0, $t3
    check   $v0, 1
    sltu    $v0, $t2, $t2
    check   $v0, 0
    sltu    $v0, $zero, $t2
    check   $v0, 1
    slti    $v0, $t2, 0
    check   $v0, 1
    slti    $v0, $t2, -1
    check   $v0, 0
    slti    $v0, $t3, -32768
    check   $v0, 1
    slti    $v0, $t0, -1
    check   $v0, 0
    /* The immediate is sign-extended, and then compared without a sign. */
    sltiu   $v0, $t0, -1
    check   $v0, 1
    sltiu   $v0, $t2, -1
    check   $v0, 0
    sltiu   $v0, $zero, 1
    check   $v0, 1
    sltiu   $v0, $t3, 32767
    check   $v0, 0

    /* Writes to register 0 have no effect. */
    addiu   $zero, $zero, 5
    check   $zero, 0
    addu    $zero, $t0, $t0
    addu    $v0, $zero, $zero
    check   $v0, 0

    /* Each result is used by each of the next three instructions. */
    addiu   $v0, $zero, 1
    addu    $v1, $v0, $v0
    addu    $a0, $v0, $v1
    addu    $a1, $v1, $a0
    addu    $a2, $v0, $a1
    check   $v1, 2
    check   $a0, 3
    check   $a1, 5
    check   $a2, 6
    finish
