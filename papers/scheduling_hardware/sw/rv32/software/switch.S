/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches of the software back end. The registers that a C function keeps for its caller lie on the thread's stack. */
#include "../ssh.inc"

#define THREAD_SP 20
#define FRAME 64
#define LOG2_IDLE_STACK 9

    .section .text.switch, "ax"

    .globl scheduler_switch
scheduler_switch:
    addi    sp, sp, -FRAME
    sw      s0, 0(sp)
    sw      s1, 4(sp)
    sw      s2, 8(sp)
    sw      s3, 12(sp)
    sw      s4, 16(sp)
    sw      s5, 20(sp)
    sw      s6, 24(sp)
    sw      s7, 28(sp)
    sw      s8, 32(sp)
    sw      s9, 36(sp)
    sw      s10, 40(sp)
    sw      s11, 44(sp)
    sw      ra, 48(sp)
    sw      sp, THREAD_SP(a0)
    beqz    a1, idle
    mv      a0, a1

    .globl scheduler_resume
scheduler_resume:
    lw      sp, THREAD_SP(a0)
    mv      tp, a0
    lui     t0, %hi(scheduler_word)
    sw      zero, %lo(scheduler_word)(t0)
    lw      ra, 48(sp)
    lw      s11, 44(sp)
    lw      s10, 40(sp)
    lw      s9, 36(sp)
    lw      s8, 32(sp)
    lw      s7, 28(sp)
    lw      s6, 24(sp)
    lw      s5, 20(sp)
    lw      s4, 16(sp)
    lw      s3, 12(sp)
    lw      s2, 8(sp)
    lw      s1, 4(sp)
    lw      s0, 0(sp)
    addi    sp, sp, FRAME
    ret

    /* Where a new thread begins: its function in s0, the argument in s1. */
    .globl scheduler_begin
scheduler_begin:
    mv      a0, s1
    jalr    s0
    .globl okosu_thread_exit
okosu_thread_exit:
    j       pthread_exit

idle:
    lui     t0, %hi(scheduler_word)
    sw      zero, %lo(scheduler_word)(t0)
    .globl okosu_wait_for_threads
okosu_wait_for_threads:
    get     t0, 8
    address sp, idle_stacks + (1 << LOG2_IDLE_STACK) - 32
    slli    t0, t0, LOG2_IDLE_STACK
    add     sp, sp, t0
    j       scheduler_idle

    /* Interrupts stay off in this back end. */
    .globl okosu_interrupt
okosu_interrupt:
    j       okosu_unexpected

    .section .bss
    .align  4
idle_stacks:
    .space  64 << LOG2_IDLE_STACK
