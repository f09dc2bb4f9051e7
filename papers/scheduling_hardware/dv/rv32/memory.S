/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of each size at each place, signs, distances, and what follows at once. */
#include "isa.inc"

begin:
    la      s0, words
    lw      a0, 0(s0)
    check   a0, 0x80c1f27f
    lb      a0, 0(s0)
    check   a0, 0x7f
    lb      a0, 1(s0)
    check   a0, 0xfffffff2
    lb      a0, 2(s0)
    check   a0, 0xffffffc1
    lb      a0, 3(s0)
    check   a0, 0xffffff80
    lbu     a0, 0(s0)
    check   a0, 0x7f
    lbu     a0, 1(s0)
    check   a0, 0xf2
    lbu     a0, 3(s0)
    check   a0, 0x80
    lh      a0, 0(s0)
    check   a0, 0xfffff27f
    lh      a0, 2(s0)
    check   a0, 0xffff80c1
    lhu     a0, 0(s0)
    check   a0, 0xf27f
    lhu     a0, 2(s0)
    check   a0, 0x80c1
    lh      a0, 4(s0)
    check   a0, 0x1234
    addi    s1, s0, 2044
    lw      a0, -2044(s1)
    check   a0, 0x80c1f27f
    lw      a0, -2040(s1)
    check   a0, 0x56781234

    li      a1, 0xa1b2c3d4
    sw      a1, 8(s0)
    lw      a0, 8(s0)
    check   a0, 0xa1b2c3d4
    sb      zero, 9(s0)
    lw      a0, 8(s0)
    check   a0, 0xa1b200d4
    sh      zero, 10(s0)
    lw      a0, 8(s0)
    check   a0, 0x000000d4
    li      a1, 0x11223344
    sb      a1, 8(s0)
    sb      a1, 11(s0)
    lw      a0, 8(s0)
    check   a0, 0x44000044
    sh      a1, 8(s0)
    sh      a1, 10(s0)
    lw      a0, 8(s0)
    check   a0, 0x33443344
    sw      a1, -2044 + 12(s1)
    lw      a0, 12(s0)
    check   a0, 0x11223344

    /* Stores one behind the other, and a load behind them. */
    sw      zero, 16(s0)
    sw      a1, 16(s0)
    sb      zero, 16(s0)
    lw      a0, 16(s0)
    addi    a0, a0, 1
    check   a0, 0x11223301
    /* A loaded value is stored, used as an address, and added. */
    sw      s0, 20(s0)
    lw      a2, 20(s0)
    lw      a0, 4(a2)
    check   a0, 0x56781234
    lw      a0, 4(s0)
    sw      a0, 24(s0)
    lw      a3, 24(s0)
    add     a3, a3, a3
    check   a3, 0xacf02468
    fence
    fence.i
    finish

    .data
    .align  2
words:
    .word   0x80c1f27f, 0x56781234
    .fill   512, 4, 0
