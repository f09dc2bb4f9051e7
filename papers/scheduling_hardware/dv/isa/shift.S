/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts by a constant and by a register, whose low five bits count. */
#include "isa.inc"

begin:
    li      $t0, 0x80000001
    li      $t1, 0x7654321f
    sll     $v0, $t0, 1
    check   $v0, 2
    sll     $v0, $t0, 31
    check   $v0, 0x80000000
    sll     $v0, $t1, 0
    check   $v0, 0x7654321f
    sll     $v0, $t1, 16
    check   $v0, 0x321f0000
    srl     $v0, $t0, 1
    check   $v0, 0x40000000
    srl     $v0, $t0, 31
    check   $v0, 1
    srl     $v0, $t1, 4
    check   $v0, 0x07654321
    sra     $v0, $t0, 1
    check   $v0, 0xc0000000
    sra     $v0, $t0, 31
    check   $v0, -1
    sra     $v0, $t1, 31
    check   $v0, 0
    sra     $v0, $t1, 8
    check   $v0, 0x00765432

    li      $t2, 4
    li      $t3, 36
    li      $t4, -1
    li      $t5, 32
    sllv    $v0, $t1, $t2
    check   $v0, 0x654321f0
    sllv    $v0, $t1, $t3
    check   $v0, 0x654321f0
    sllv    $v0, $t1, $t4
    check   $v0, 0x80000000
    sllv    $v0, $t1, $t5
    check   $v0, 0x7654321f
    srlv    $v0, $t0, $t2
    check   $v0, 0x08000000
    srlv    $v0, $t0, $t4
    check   $v0, 1
    srlv    $v0, $t0, $t5
    check   $v0, 0x80000001
    srav    $v0, $t0, $t2
    check   $v0, 0xf8000000
    srav    $v0, $t0, $t4
    check   $v0, -1
    srav    $v0, $t1, $t3
    check   $v0, 0x07654321
    finish
