/* SPDX-License-Identifier: Apache-2.0 */
/* Context switches of the software back end. The registers that a C function keeps for its caller lie on the thread's stack. */
#define THREAD_SP 20
#define FRAME 48
#define LOG2_IDLE_STACK 9

    .set noreorder
    .section .text.switch, "ax"

    .globl scheduler_switch
scheduler_switch:
    addiu   $sp, $sp, -FRAME
    sw      $s0, 0($sp)
    sw      $s1, 4($sp)
    sw      $s2, 8($sp)
    sw      $s3, 12($sp)
    sw      $s4, 16($sp)
    sw      $s5, 20($sp)
    sw      $s6, 24($sp)
    sw      $s7, 28($sp)
    sw      $fp, 32($sp)
    sw      $ra, 36($sp)
    beqz    $a1, idle
    sw      $sp, THREAD_SP($a0)
    move    $a0, $a1

    .globl scheduler_resume
scheduler_resume:
    lw      $sp, THREAD_SP($a0)
    move    $k1, $a0
    lui     $t0, %hi(scheduler_word)
    sw      $zero, %lo(scheduler_word)($t0)
    lw      $ra, 36($sp)
    lw      $fp, 32($sp)
    lw      $s7, 28($sp)
    lw      $s6, 24($sp)
    lw      $s5, 20($sp)
    lw      $s4, 16($sp)
    lw      $s3, 12($sp)
    lw      $s2, 8($sp)
    lw      $s1, 4($sp)
    lw      $s0, 0($sp)
    jr      $ra
    addiu   $sp, $sp, FRAME

    /* Where a new thread begins: its function in s0, the argument in s1. */
    .globl scheduler_begin
scheduler_begin:
    jalr    $s0
    move    $a0, $s1
    .globl okosu_thread_exit
okosu_thread_exit:
    j       pthread_exit
    move    $a0, $v0

idle:
    lui     $t0, %hi(scheduler_word)
    sw      $zero, %lo(scheduler_word)($t0)
    .globl okosu_wait_for_threads
okosu_wait_for_threads:
    mfc2    $t0, $8
    la      $sp, idle_stacks + (1 << LOG2_IDLE_STACK) - 32
    sll     $t0, $t0, LOG2_IDLE_STACK
    j       scheduler_idle
    addu    $sp, $sp, $t0

    /* Interrupts stay off in this back end. */
    .globl okosu_interrupt
okosu_interrupt:
    j       okosu_unexpected
    nop

    .section .bss
    .align  4
idle_stacks:
    .space  64 << LOG2_IDLE_STACK
