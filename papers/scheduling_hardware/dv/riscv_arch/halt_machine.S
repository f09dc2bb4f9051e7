/* SPDX-License-Identifier: Apache-2.0 */
/* The signature goes to the machine's console, byte by byte, and the simulation ends. */
CONSOLE = 0xbf000000
END_OF_SIMULATION = 0xbf000004

    .option norelax
    .section .text.halt, "ax"
    .globl  okosu_halt
okosu_halt:
    la      t0, begin_signature
    la      t1, end_signature
    li      t2, CONSOLE
1:  lb      t3, 0(t0)
    sb      t3, 0(t2)
    addi    t0, t0, 1
    bne     t0, t1, 1b
    li      t2, END_OF_SIMULATION
    sw      zero, 0(t2)
2:  j       2b
