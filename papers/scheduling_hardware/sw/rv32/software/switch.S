/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches of the software back end. The registers that a C function keeps for its caller lie on the thread's stack. */
#include "../kept.inc"
#include "../ssh.inc"

#define THREAD_SP 20
#define FRAME 64
#define LOG2_IDLE_STACK 9

    .section .text.switch, "ax"

    .globl scheduler_switch
scheduler_switch:
    addi    sp, sp, -FRAME
    store_kept sp
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
    load_kept sp
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
