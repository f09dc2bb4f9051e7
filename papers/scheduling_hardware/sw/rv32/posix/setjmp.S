/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that a C function keeps for its caller. */
#include "../kept.inc"

    .section .text.lib, "ax"
    .globl setjmp
setjmp:
    store_kept a0
    sw      sp, 48(a0)
    sw      ra, 52(a0)
    li      a0, 0
    ret

    /* A value of 0 becomes 1. */
    .globl longjmp
longjmp:
    load_kept a0
    lw      sp, 48(a0)
    lw      ra, 52(a0)
    seqz    a0, a1
    add     a0, a0, a1
    ret
