/* SPDX-License-Identifier: Apache-2.0 */
/* SOFT mode: SSH-s interrupts a thread whose time is over while another one is ready. All of its registers, RES and ERR are saved in its
 * context area (link.ld), and what soft_next() returns to is the code that puts them back. SSH-s interrupts no thread between the operands
 * of a command and the command; a reservation ends with the interrupt; so nothing else of a PE's state is the thread's. gp and tp are
 * this handler's: no code uses them (build.sh). */
#include "../ssh.inc"
#include "switch.h"

#define LOG2_AREA 8
#define AREA_PC 136
#define AREA_ERR 140
#define AREA_RES 144

/* All registers but gp and tp; `op` is sw or lw. */
#define ALL_REGISTERS(op)                                                                                              \
    op x1, 4(tp);                                                                                                      \
    op x2, 8(tp);                                                                                                      \
    op x5, 20(tp);                                                                                                     \
    op x6, 24(tp);                                                                                                     \
    op x7, 28(tp);                                                                                                     \
    op x8, 32(tp);                                                                                                     \
    op x9, 36(tp);                                                                                                     \
    op x10, 40(tp);                                                                                                    \
    op x11, 44(tp);                                                                                                    \
    op x12, 48(tp);                                                                                                    \
    op x13, 52(tp);                                                                                                    \
    op x14, 56(tp);                                                                                                    \
    op x15, 60(tp);                                                                                                    \
    op x16, 64(tp);                                                                                                    \
    op x17, 68(tp);                                                                                                    \
    op x18, 72(tp);                                                                                                    \
    op x19, 76(tp);                                                                                                    \
    op x20, 80(tp);                                                                                                    \
    op x21, 84(tp);                                                                                                    \
    op x22, 88(tp);                                                                                                    \
    op x23, 92(tp);                                                                                                    \
    op x24, 96(tp);                                                                                                    \
    op x25, 100(tp);                                                                                                   \
    op x26, 104(tp);                                                                                                   \
    op x27, 108(tp);                                                                                                   \
    op x28, 112(tp);                                                                                                   \
    op x29, 116(tp);                                                                                                   \
    op x30, 120(tp);                                                                                                   \
    op x31, 124(tp)

    .section .text.switch, "ax"

    /* tp: the running thread's area. */
    .macro  area
    get     tp, 7
    address gp, __contexts
    andi    tp, tp, 255
    slli    tp, tp, LOG2_AREA
    add     tp, tp, gp
    .endm

    .globl okosu_interrupt
okosu_interrupt:
    /* Before its first instruction, which turns interrupts off: nothing has changed in the area. */
    csrr    gp, mepc
    address tp, resume
    beq     gp, tp, resume
    area
    ALL_REGISTERS(sw)
    csrr    t2, mepc
    get     t3, 5
    get     t4, 6
    sw      t2, AREA_PC(tp)
    sw      t3, AREA_ERR(tp)
    sw      t4, AREA_RES(tp)
    /* The other thread may have been recalled meanwhile: then there is no thread to yield to. */
    put     20, zero
    get     t0, 5
    beqz    t0, resume
    get     t0, 7
    address t1, okosu_threads + CONTEXT
    andi    t0, t0, 255
    slli    t0, t0, LOG2_THREAD
    add     t1, t1, t0
    address t2, resume
    sw      t2, CONTEXT_RA(t1)
    j       soft_next

    /* The preempted thread goes on at this PE. Its quantum begins when all registers are restored, or a short one would always be over
     * by then. */
resume:
    csrci   mstatus, INTERRUPTS
    area
    lw      t0, AREA_PC(tp)
    lw      t2, AREA_ERR(tp)
    lw      t3, AREA_RES(tp)
    csrw    mepc, t0
    put     5, t2
    put     6, t3
    li      t0, INTERRUPTS_PREVIOUS
    csrs    mstatus, t0
    ALL_REGISTERS(lw)
    address gp, __okosu_quantum
    set     5, gp
    mret
