/* SPDX-License-Identifier: Apache-2.0 */
/* And, or, xor; shifts by each kind of amount, of which five bits count. */
#include "isa.inc"

begin:
    gives   and, 0x0ff00ff0, 0x00ffff00, 0x00f00f00
    gives   or,  0x0ff00ff0, 0x00ffff00, 0x0ffffff0
    gives   xor, 0x0ff00ff0, 0x00ffff00, 0x0f0ff0f0
    gives   sll, 0x80000001, 0, 0x80000001
    gives   sll, 0x80000001, 1, 2
    gives   sll, 0x80000001, 31, 0x80000000
    gives   sll, 0x80000001, 33, 2
    gives   srl, 0x80000001, 0, 0x80000001
    gives   srl, 0x80000001, 4, 0x08000000
    gives   srl, 0x80000001, 31, 1
    gives   srl, 0x80000001, -1, 1
    gives   sra, 0x80000001, 0, 0x80000001
    gives   sra, 0x80000001, 4, 0xf8000000
    gives   sra, 0x80000001, 31, -1
    gives   sra, 0x7fffffff, 30, 1
    gives   sra, 0x80000000, 0x21, 0xc0000000

    li      a0, 0x33aa55cc
    andi    a1, a0, -16
    check   a1, 0x33aa55c0
    andi    a1, a0, 0x7ff
    check   a1, 0x5cc
    ori     a1, a0, -2048
    check   a1, 0xfffffdcc
    xori    a1, a0, -1
    check   a1, 0xcc55aa33
    slli    a1, a0, 0
    check   a1, 0x33aa55cc
    slli    a1, a0, 31
    check   a1, 0
    slli    a1, a0, 5
    check   a1, 0x754ab980
    srli    a1, a1, 31
    check   a1, 0
    not     a1, a0
    srli    a2, a1, 28
    check   a2, 0xc
    srai    a2, a1, 28
    check   a2, -4
    srai    a2, a0, 28
    check   a2, 3
    finish
