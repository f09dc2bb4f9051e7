/* SPDX-License-Identifier: Apache-2.0 */
/* Bitwise operations, and lui. */
#include "isa.inc"

begin:
    li      $t0, 0x0ff0f00f
    li      $t1, 0x3c5aa5c3
    and     $v0, $t0, $t1
    check   $v0, 0x0c50a003
    or      $v0, $t0, $t1
    check   $v0, 0x3ffaf5cf
    xor     $v0, $t0, $t1
    check   $v0, 0x33aa55cc
    nor     $v0, $t0, $t1
    check   $v0, 0xc0050a30
    nor     $v0, $zero, $zero
    check   $v0, -1
    xor     $v0, $t1, $t1
    check   $v0, 0
    and     $v0, $t0, $zero
    check   $v0, 0
    or      $v0, $zero, $t1
    check   $v0, 0x3c5aa5c3
    /* Immediates are not sign-extended. */
    andi    $v0, $t1, 0xff00
    check   $v0, 0xa500
    li      $t2, -1
    andi    $v0, $t2, 0x8001
    check   $v0, 0x8001
    ori     $v0, $t0, 0x8ff0
    check   $v0, 0x0ff0ffff
    ori     $v0, $zero, 0x8000
    check   $v0, 0x8000
    xori    $v0, $t1, 0xffff
    check   $v0, 0x3c5a5a3c
    xori    $v0, $t2, 0x8000
    check   $v0, 0xffff7fff
    lui     $v0, 0x8001
    check   $v0, 0x80010000
    lui     $v0, 0xffff
    check   $v0, 0xffff0000
    lui     $v0, 0
    check   $v0, 0
    lui     $v0, 0x1234
    ori     $v0, $v0, 0x5678
    check   $v0, 0x12345678
    finish
