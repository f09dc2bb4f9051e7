/* SPDX-License-Identifier: Apache-2.0 */
/* Reset and exceptions. Every PE comes here at reset: PE 0 runs main as thread 0, the others wait for threads. */
#include "../ssh.inc"

    .section .text.start, "ax"
    .globl _start
_start:
    address sp, __main_stack_top - 32
    /* The settings of SSH-s: stack, return address and gp of a new thread, and where contexts are kept. */
    address t0, __stack_top
    set     0, t0
    address t0, __stack_log2
    set     1, t0
    address t0, okosu_thread_exit
    set     2, t0
    address gp, _gp
    set     3, gp
    address t0, __contexts
    set     4, t0
    address t0, __okosu_quantum
    set     5, t0
    li      t0, 1
    set     6, t0
    /* SSH-s's interrupt, which mstatus lets through later. */
    li      t0, 0x800
    csrw    mie, t0
    /* The software back end's running thread. */
    address tp, okosu_threads
    j       by_number

    .org    0x80
exception:
    /* An interrupt takes the PE from its thread, of whose registers only gp may be overwritten (and tp, which is used by the software
     * back end, that has no interrupts). */
    csrr    gp, mcause
    bltz    gp, okosu_interrupt
    /* No other exception is expected: the first PE to come here reports what happened, on a stack of its own. */
    .globl  okosu_unexpected
okosu_unexpected:
    address t0, trap_taken
    li      t1, 1
    amoswap.w t1, t1, (t0)
1:  bnez    t1, 1b
    mv      a0, sp
    mv      a1, ra
    address sp, trap_stack_top - 32
    j       okosu_trap

by_number:
    get     t0, 8
    bnez    t0, 1f
    j       okosu_main
1:  j       okosu_wait_for_threads

    .section .bss
    .align  4
trap_stack:
    .space  1024
trap_stack_top:
trap_taken:
    .space  4
