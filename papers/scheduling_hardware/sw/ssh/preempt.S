/* SPDX-License-Identifier: Apache-2.0 */
/* SOFT mode: SSH-s interrupts a thread whose time is over while another one is ready. All of its registers, RES and ERR are saved in its
 * context area (link.ld), and what soft_next() returns to is the code that puts them back. SSH-s interrupts no thread between the operands
 * of a command and the command, nor between the parts of an exchange, so nothing else of a PE's state is the thread's. */
#include "switch.h"

#define LOG2_AREA 8
#define AREA_HI 128
#define AREA_LO 132
#define AREA_PC 136
#define AREA_ERR 140
#define AREA_RES 144

/* All registers but k0, k1, and gp, which is the same for all; `op` is sw or lw. */
#define ALL_REGISTERS(op)                                                                                              \
    op $1, 4($k1);                                                                                                     \
    op $2, 8($k1);                                                                                                     \
    op $3, 12($k1);                                                                                                    \
    op $4, 16($k1);                                                                                                    \
    op $5, 20($k1);                                                                                                    \
    op $6, 24($k1);                                                                                                    \
    op $7, 28($k1);                                                                                                    \
    op $8, 32($k1);                                                                                                    \
    op $9, 36($k1);                                                                                                    \
    op $10, 40($k1);                                                                                                   \
    op $11, 44($k1);                                                                                                   \
    op $12, 48($k1);                                                                                                   \
    op $13, 52($k1);                                                                                                   \
    op $14, 56($k1);                                                                                                   \
    op $15, 60($k1);                                                                                                   \
    op $16, 64($k1);                                                                                                   \
    op $17, 68($k1);                                                                                                   \
    op $18, 72($k1);                                                                                                   \
    op $19, 76($k1);                                                                                                   \
    op $20, 80($k1);                                                                                                   \
    op $21, 84($k1);                                                                                                   \
    op $22, 88($k1);                                                                                                   \
    op $23, 92($k1);                                                                                                   \
    op $24, 96($k1);                                                                                                   \
    op $25, 100($k1);                                                                                                  \
    op $29, 116($k1);                                                                                                  \
    op $30, 120($k1);                                                                                                  \
    op $31, 124($k1)

    .set noreorder
    .set noat
    .section .text.switch, "ax"

    /* k1: the running thread's area. */
    .macro  area
    mfc2    $k0, $7
    lui     $k1, %hi(__contexts)
    andi    $k0, $k0, 255
    sll     $k0, $k0, LOG2_AREA
    addu    $k1, $k1, $k0
    addiu   $k1, $k1, %lo(__contexts)
    .endm

    .globl okosu_interrupt
okosu_interrupt:
    /* Before its first instruction, which turns interrupts off: nothing has changed in the area. */
    mfc0    $k0, $14
    la      $k1, resume
    beq     $k0, $k1, resume
    nop
    area
    ALL_REGISTERS(sw)
    mfhi    $t0
    mflo    $t1
    mfc0    $t2, $14
    mfc2    $t3, $5
    mfc2    $t4, $6
    sw      $t0, AREA_HI($k1)
    sw      $t1, AREA_LO($k1)
    sw      $t2, AREA_PC($k1)
    sw      $t3, AREA_ERR($k1)
    sw      $t4, AREA_RES($k1)
    /* The other thread may have been recalled meanwhile: then there is no thread to yield to. */
    mtc2    $zero, $20
    mfc2    $t0, $5
    nop
    beqz    $t0, resume
    mfc2    $t0, $7
    la      $t1, okosu_threads + CONTEXT
    andi    $t0, $t0, 255
    sll     $t0, $t0, LOG2_THREAD
    addu    $t1, $t1, $t0
    la      $t2, resume
    j       soft_next
    sw      $t2, CONTEXT_RA($t1)

    /* The preempted thread goes on at this PE. Its quantum begins when all registers are restored,
     * or a short one would always be over by then. */
resume:
    mtc0    $zero, $12
    area
    lw      $t0, AREA_HI($k1)
    lw      $t1, AREA_LO($k1)
    lw      $t2, AREA_ERR($k1)
    lw      $t3, AREA_RES($k1)
    mthi    $t0
    mtlo    $t1
    mtc2    $t2, $5
    mtc2    $t3, $6
    li      $t0, INTERRUPTS_PREVIOUS
    mtc0    $t0, $12
    ALL_REGISTERS(lw)
    la      $k0, __okosu_quantum
    ctc2    $k0, $5
    lw      $k0, AREA_PC($k1)
    nop
    jr      $k0
    rfe
