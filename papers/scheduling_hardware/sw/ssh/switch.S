/* SPDX-License-Identifier: Apache-2.0 */
/* Where threads come from and go to. Only SOFT mode comes behind a NEXT or an EXIT; there the registers that a C function keeps for
 * its caller are all that has to be saved, for a thread stops in functions only. A thread that is preempted stops anywhere: preempt.S. */
#include "switch.h"

    .set noreorder
    .section .text.switch, "ax"

    /* A thread's function has returned to here with its value. */
    .globl okosu_thread_exit
okosu_thread_exit:
    mfc2    $t0, $7
    lui     $t1, %hi(okosu_threads)
    andi    $t0, $t0, 255
    sll     $t0, $t0, LOG2_THREAD
    addu    $t1, $t1, $t0
    lw      $t1, %lo(okosu_threads)($t1)
    nop
    bnez    $t1, 1f
    nop
    mtc2    $v0, $17
    b       soft_next
    nop
1:  j       pthread_exit
    move    $a0, $v0

    /* A PE without a thread: at reset here. */
    .globl okosu_wait_for_threads
okosu_wait_for_threads:
    b       soft_next
    nop

    .globl soft_switch
soft_switch:
    mfc2    $t0, $7
    la      $t1, okosu_threads + CONTEXT
    andi    $t0, $t0, 255
    sll     $t0, $t0, LOG2_THREAD
    addu    $t1, $t1, $t0
    sw      $s0, 0($t1)
    sw      $s1, 4($t1)
    sw      $s2, 8($t1)
    sw      $s3, 12($t1)
    sw      $s4, 16($t1)
    sw      $s5, 20($t1)
    sw      $s6, 24($t1)
    sw      $s7, 28($t1)
    sw      $fp, 32($t1)
    sw      $sp, 36($t1)
    sw      $ra, CONTEXT_RA($t1)

    /* From here on the thread's stack may be another PE's. The next one is not preempted before it is whole. */
    .globl soft_next
soft_next:
    mtc0    $zero, $12
    mtc2    $zero, $26
    mfc2    $t0, $6
    mfc2    $t2, $13
    mfc2    $v0, $14
    mfc2    $v1, $5
    andi    $t0, $t0, 255
    bnez    $t2, new_thread
    li      $t3, INTERRUPTS
    la      $t1, okosu_threads + CONTEXT
    sll     $t0, $t0, LOG2_THREAD
    addu    $t1, $t1, $t0
    lw      $ra, CONTEXT_RA($t1)
    lw      $sp, 36($t1)
    lw      $fp, 32($t1)
    lw      $s7, 28($t1)
    lw      $s6, 24($t1)
    lw      $s5, 20($t1)
    lw      $s4, 16($t1)
    lw      $s3, 12($t1)
    lw      $s2, 8($t1)
    lw      $s1, 4($t1)
    lw      $s0, 0($t1)
    jr      $ra
    mtc0    $t3, $12

new_thread:
    la      $t1, __stack_log2
    sllv    $t0, $t0, $t1
    la      $t1, __stack_top - 16
    subu    $sp, $t1, $t0
    la      $ra, okosu_thread_exit
    move    $a0, $v0
    jr      $t2
    mtc0    $t3, $12
