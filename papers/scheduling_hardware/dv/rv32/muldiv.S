/* SPDX-License-Identifier: Apache-2.0 */
/* Products and quotients, by zero and too large ones among them. */
#include "isa.inc"

begin:
    gives   mul,    7, 6, 42
    gives   mul,    -7, 6, -42
    gives   mul,    0x12345678, 0x9abcdef0, 0x242d2080
    gives   mul,    0x80000000, -1, 0x80000000
    gives   mulh,   7, 6, 0
    gives   mulh,   -7, 6, -1
    gives   mulh,   0x80000000, 0x80000000, 0x40000000
    gives   mulh,   0x7fffffff, 0x7fffffff, 0x3fffffff
    gives   mulh,   -1, -1, 0
    gives   mulhu,  -1, -1, 0xfffffffe
    gives   mulhu,  0x80000000, 2, 1
    gives   mulhu,  -7, 6, 5
    gives   mulhsu, -1, -1, -1
    gives   mulhsu, -7, 6, -1
    gives   mulhsu, 6, -7, 5
    gives   mulhsu, 0x80000000, 0xffffffff, 0x80000000
    gives   div,    42, 6, 7
    gives   div,    43, -6, -7
    gives   div,    -43, 6, -7
    gives   div,    -43, -6, 7
    gives   div,    5, 0, -1
    gives   div,    -5, 0, -1
    gives   div,    0x80000000, 0, -1
    gives   div,    0, 0, -1
    gives   div,    0x80000000, -1, 0x80000000
    gives   divu,   43, 6, 7
    gives   divu,   -1, 0x10000, 0xffff
    gives   divu,   5, 0, -1
    gives   divu,   0, 0, -1
    gives   divu,   0x80000000, -1, 0
    gives   rem,    43, 6, 1
    gives   rem,    43, -6, 1
    gives   rem,    -43, 6, -1
    gives   rem,    -43, -6, -1
    gives   rem,    5, 0, 5
    gives   rem,    -5, 0, -5
    gives   rem,    0x80000000, -1, 0
    gives   remu,   43, 6, 1
    gives   remu,   -1, 0x10000, 0xffff
    gives   remu,   -5, 0, -5
    gives   remu,   0x80000000, -1, 0x80000000

    /* Each needs the one in front of it. */
    li      a0, 3
    mul     a0, a0, a0
    mul     a0, a0, a0
    li      a1, 7
    divu    a2, a0, a1
    remu    a3, a0, a1
    mul     a2, a2, a1
    add     a2, a2, a3
    check   a2, 81
    finish
