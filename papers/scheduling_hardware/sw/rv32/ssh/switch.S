/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads come from and go to. Only SOFT mode comes behind a NEXT or an EXIT; there the registers that a C function keeps for
 * its caller are all that has to be saved, for a thread stops in functions only. A thread that is preempted stops anywhere: preempt.S. */
#include "../kept.inc"
#include "../ssh.inc"
#include "switch.h"

    .section .text.switch, "ax"

    /* A thread's function has returned to here with its value. */
    .globl okosu_thread_exit
okosu_thread_exit:
    get     t0, 7
    address t1, okosu_threads
    andi    t0, t0, 255
    slli    t0, t0, LOG2_THREAD
    add     t1, t1, t0
    lw      t1, 0(t1)
    bnez    t1, 1f
    put     17, a0
    j       soft_next
1:  j       pthread_exit

    /* A PE without a thread: at reset here. */
    .globl okosu_wait_for_threads
okosu_wait_for_threads:
    j       soft_next

    .globl soft_switch
soft_switch:
    get     t0, 7
    address t1, okosu_threads + CONTEXT
    andi    t0, t0, 255
    slli    t0, t0, LOG2_THREAD
    add     t1, t1, t0
    store_kept t1
    sw      sp, CONTEXT_SP(t1)
    sw      ra, CONTEXT_RA(t1)

    /* From here on the thread's stack may be another PE's. The next one is not preempted before it is whole: mret turns interrupts on
     * and goes there in one. */
    .globl soft_next
soft_next:
    csrci   mstatus, INTERRUPTS
    put     26, zero
    get     t0, 6
    get     t2, 13
    get     a0, 14
    get     a1, 5
    li      t3, INTERRUPTS_PREVIOUS
    csrs    mstatus, t3
    andi    t0, t0, 255
    bnez    t2, new_thread
    address t1, okosu_threads + CONTEXT
    slli    t0, t0, LOG2_THREAD
    add     t1, t1, t0
    lw      ra, CONTEXT_RA(t1)
    lw      sp, CONTEXT_SP(t1)
    csrw    mepc, ra
    load_kept t1
    mret

new_thread:
    address t1, __stack_log2
    sll     t0, t0, t1
    address t1, __stack_top - 16
    sub     sp, t1, t0
    address ra, okosu_thread_exit
    csrw    mepc, t2
    mret
