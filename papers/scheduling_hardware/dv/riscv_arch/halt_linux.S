/* SPDX-License-Identifier: Apache-2.0 */
/* The signature goes to standard output, and the process ends. */
WRITE = 64
EXIT = 93

    .option norelax
    .section .text.halt, "ax"
    .globl  okosu_halt
okosu_halt:
    li      a0, 1
    la      a1, begin_signature
    la      a2, end_signature
    sub     a2, a2, a1
    li      a7, WRITE
    ecall
    li      a0, 0
    li      a7, EXIT
    ecall
