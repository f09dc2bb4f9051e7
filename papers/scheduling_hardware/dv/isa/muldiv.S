/* SPDX-License-Identifier: Apache-2.0 */
/* Products, quotients and remainders, HI and LO. */
#include "isa.inc"

.macro product name, a, b, high, low
    li      $t0, \a
    li      $t1, \b
    \name   $t0, $t1
    mflo    $v0
    mfhi    $v1
    check   $v0, \low
    check   $v1, \high
.endm
/* gas makes checks of its own around a division with three operands; $zero says that there are two. */
.macro quotient name, a, b, remainder, quotient
    li      $t0, \a
    li      $t1, \b
    \name   $zero, $t0, $t1
    mfhi    $v1
    mflo    $v0
    check   $v0, \quotient
    check   $v1, \remainder
.endm

begin:
    product mult,  3, 5, 0, 15
    product mult,  -3, 5, -1, -15
    product mult,  -3, -5, 0, 15
    product mult,  0x7fffffff, 0x7fffffff, 0x3fffffff, 1
    product mult,  0x80000000, 0x80000000, 0x40000000, 0
    product mult,  0x80000000, -1, 0, 0x80000000
    product mult,  0x80000000, 1, -1, 0x80000000
    product mult,  0x12345678, 0, 0, 0
    product multu, 3, 5, 0, 15
    product multu, -1, -1, 0xfffffffe, 1
    product multu, 0x80000000, 2, 1, 0
    product multu, 0x12345678, 0x9abcdef0, 0x0b00ea4e, 0x242d2080

    quotient div,  17, 5, 2, 3
    quotient div,  -17, 5, -2, -3
    quotient div,  17, -5, 2, -3
    quotient div,  -17, -5, -2, 3
    quotient div,  4, 5, 4, 0
    quotient div,  -4, 5, -4, 0
    quotient div,  0x7fffffff, 1, 0, 0x7fffffff
    quotient div,  0x80000000, 1, 0, 0x80000000
    quotient div,  0x80000000, 2, 0, 0xc0000000
    quotient div,  0x80000000, 0x7fffffff, -1, -1
    quotient div,  0, 7, 0, 0
    quotient divu, 17, 5, 2, 3
    quotient divu, -1, 2, 1, 0x7fffffff
    quotient divu, 0x80000000, -1, 0x80000000, 0
    quotient divu, -1, -1, 0, 1
    quotient divu, 0xfffffffe, 0x80000000, 0x7ffffffe, 1

    /* HI and LO stay until something else writes them; each can be written alone. */
    li      $t0, 7
    li      $t1, 9
    mult    $t0, $t1
    mflo    $v0
    mflo    $v1
    check   $v0, 63
    check   $v1, 63
    mthi    $t1
    mflo    $v0
    mfhi    $v1
    check   $v0, 63
    check   $v1, 9
    mtlo    $t0
    mflo    $v0
    mfhi    $v1
    check   $v0, 7
    check   $v1, 9

    /* Other instructions during a division, and one division after another. */
    li      $t0, 100
    li      $t1, 7
    div     $zero, $t0, $t1
    addiu   $t0, $t0, 1
    addiu   $t1, $t1, 1
    mflo    $v0
    mfhi    $v1
    check   $v0, 14
    check   $v1, 2
    check   $t0, 101
    div     $zero, $t0, $t1
    mult    $t0, $t1
    mflo    $v0
    check   $v0, 808
    /* The quotient is used at once, as operand, address, condition and factor. */
    divu    $zero, $t0, $t1
    mflo    $v0
    addu    $v1, $v0, $v0
    check   $v1, 24
    divu    $zero, $t0, $t1
    mflo    $v0
    mult    $v0, $v0
    mflo    $v0
    check   $v0, 144
    finish
