/* SPDX-License-Identifier: Apache-2.0 */
/* Reset and exceptions. Every PE comes here at reset: PE 0 runs main as thread 0, the others wait for threads. */
    .set noreorder
    .section .text.start, "ax"
    .globl _start
_start:
    la      $sp, __main_stack_top - 32
    /* The settings of SSH-s: stack, return address and gp of a new thread, and where contexts are
     * kept. */
    la      $t0, __stack_top
    ctc2    $t0, $0
    la      $t0, __stack_log2
    ctc2    $t0, $1
    la      $t0, okosu_thread_exit
    ctc2    $t0, $2
    la      $gp, _gp
    ctc2    $gp, $3
    la      $t0, __contexts
    ctc2    $t0, $4
    la      $t0, __okosu_quantum
    ctc2    $t0, $5
    li      $t0, 1
    ctc2    $t0, $6
    /* The software back end's running thread. */
    la      $k1, okosu_threads
    j       by_number
    nop

    .org    0x80
exception:
    /* An interrupt takes the PE from its thread, of whose registers only k0 and k1 may be
     * overwritten (k1 is used by the software back end, which has no interrupts). */
    mfc0    $k0, $13
    nop
    andi    $k0, $k0, 0x7c
    beqz    $k0, okosu_interrupt
    nop
    /* No other exception is expected: the first PE to come here reports what happened, on a stack
     * of its own. */
    .globl  okosu_unexpected
okosu_unexpected:
    la      $t0, trap_taken
    li      $t1, 1
    mtc2    $t1, $4
    lwc2    $4, 0($t0)
    mfc2    $t1, $4
    nop
1:  bnez    $t1, 1b
    nop
    move    $a0, $sp
    move    $a1, $ra
    la      $sp, trap_stack_top - 32
    j       okosu_trap
    nop

by_number:
    mfc2    $t0, $8
    nop
    beqz    $t0, okosu_main
    nop
    j       okosu_wait_for_threads
    nop

    .section .bss
    .align  4
trap_stack:
    .space  1024
trap_stack_top:
trap_taken:
    .space  4
