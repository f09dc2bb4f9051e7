/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that a C function keeps for its caller. */
    .section .text.lib, "ax"
    .globl setjmp
setjmp:
    sw      s0, 0(a0)
    sw      s1, 4(a0)
    sw      s2, 8(a0)
    sw      s3, 12(a0)
    sw      s4, 16(a0)
    sw      s5, 20(a0)
    sw      s6, 24(a0)
    sw      s7, 28(a0)
    sw      s8, 32(a0)
    sw      s9, 36(a0)
    sw      s10, 40(a0)
    sw      s11, 44(a0)
    sw      sp, 48(a0)
    sw      ra, 52(a0)
    li      a0, 0
    ret

    /* A value of 0 becomes 1. */
    .globl longjmp
longjmp:
    lw      s0, 0(a0)
    lw      s1, 4(a0)
    lw      s2, 8(a0)
    lw      s3, 12(a0)
    lw      s4, 16(a0)
    lw      s5, 20(a0)
    lw      s6, 24(a0)
    lw      s7, 28(a0)
    lw      s8, 32(a0)
    lw      s9, 36(a0)
    lw      s10, 40(a0)
    lw      s11, 44(a0)
    lw      sp, 48(a0)
    lw      ra, 52(a0)
    seqz    a0, a1
    add     a0, a0, a1
    ret
