/* SPDX-License-Identifier: Apache-2.0 */
/* Additions, comparisons, constants. */
#include "isa.inc"

begin:
    gives   add,  1, 2, 3
    gives   add,  0x7fffffff, 1, 0x80000000
    gives   add,  0xffffffff, 1, 0
    gives   add,  0x80000000, 0x80000000, 0
    gives   sub,  1, 2, -1
    gives   sub,  0x80000000, 1, 0x7fffffff
    gives   sub,  0, 0x80000000, 0x80000000
    gives   slt,  1, 2, 1
    gives   slt,  2, 1, 0
    gives   slt,  -1, 1, 1
    gives   slt,  1, -1, 0
    gives   slt,  0x80000000, 0x7fffffff, 1
    gives   slt,  0x7fffffff, 0x80000000, 0
    gives   slt,  5, 5, 0
    gives   sltu, 1, 2, 1
    gives   sltu, -1, 1, 0
    gives   sltu, 1, -1, 1
    gives   sltu, 0x7fffffff, 0x80000000, 1
    gives   sltu, 0, 0, 0

    li      a0, 100
    addi    a1, a0, -101
    check   a1, -1
    addi    a1, a0, 2047
    check   a1, 2147
    addi    a1, a0, -2048
    check   a1, -1948
    slti    a1, a0, 101
    check   a1, 1
    slti    a1, a0, -1
    check   a1, 0
    sltiu   a1, a0, 100
    check   a1, 0
    sltiu   a1, a0, -1
    check   a1, 1
    seqz    a1, zero
    check   a1, 1
    lui     a1, 0xfffff
    check   a1, 0xfffff000
    lui     a1, 0x12345
    addi    a1, a1, 0x678
    check   a1, 0x12345678
    auipc   a1, 0
1:  auipc   a2, 0xfffff
    sub     a2, a2, a1
    check   a2, 0xfffff004
    la      a2, 1b
    sub     a2, a2, a1
    check   a2, 4

    /* x0 takes nothing, and bypasses nothing. */
    li      a0, 7
    add     zero, a0, a0
    mv      a1, zero
    check   a1, 0
    la      a2, word
    lw      zero, 0(a2)
    add     a1, zero, zero
    check   a1, 0
    mul     zero, a0, a0
    add     a1, zero, zero
    check   a1, 0
    finish

    .data
    .align  2
word:
    .word   99
