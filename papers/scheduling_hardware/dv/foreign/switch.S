/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of cores without CSRs: reset, and the change of threads in mode SOFT. A thread stops in functions only, so what a function keeps
 * for its caller is all that is saved, by its id. */
#include "../../sw/rv32/kept.inc"
#include "../../sw/rv32/ssh.inc"

/* What is done at first: nothing, where nobody has something wrong in mind (foreign_core.py). */
#ifndef FIRST
#define FIRST
#endif

LOG2_CONTEXT = 6
LOG2_STACK = 12
STACKS_TOP = 0x90020000

    .section .text.start, "ax"
    .globl  _start
_start:
    FIRST
    li      t0, STACKS_TOP
    set     0, t0
    li      t0, LOG2_STACK
    set     1, t0
    address t0, thread_exit
    set     2, t0
    /* PE 0 is thread 0; the others wait for threads. */
    get     t0, 8
    bnez    t0, next
    li      sp, STACKS_TOP
    call    main
    li      t0, 0xbf000004
    sw      a0, 0(t0)
1:  j       1b

thread_exit:
    put     17, a0
    j       next

    /* Saves the caller and runs another thread; returns, when the caller goes on, the result of what it waited for, and in a1 the error. */
    .globl  stop_here
stop_here:
    get     t0, 7
    address t1, contexts
    andi    t0, t0, 255
    slli    t0, t0, LOG2_CONTEXT
    add     t1, t1, t0
    store_kept t1
    sw      sp, 48(t1)
    sw      ra, 52(t1)
next:
    put     26, zero
    get     t0, 6
    get     t2, 13
    get     a0, 14
    get     a1, 5
    andi    t0, t0, 255
    bnez    t2, fresh
    address t1, contexts
    slli    t0, t0, LOG2_CONTEXT
    add     t1, t1, t0
    load_kept t1
    lw      sp, 48(t1)
    lw      ra, 52(t1)
    ret
fresh:
    slli    t0, t0, LOG2_STACK
    li      t1, STACKS_TOP
    sub     sp, t1, t0
    address ra, thread_exit
    jr      t2

    .section .bss
    .align  6
contexts:
    .space  16 << LOG2_CONTEXT
