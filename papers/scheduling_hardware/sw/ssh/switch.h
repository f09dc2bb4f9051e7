/* SPDX-License-Identifier: Apache-2.0 */
/* What the two ways of leaving a PE in SOFT mode have in common: the offsets in a
 * thread's struct (backend.h), and what turns interrupts on. */
#ifndef SWITCH_H
#define SWITCH_H

#define CONTEXT 20
#ifdef __riscv
#define CONTEXT_SP 48
#define CONTEXT_RA 52
#define LOG2_THREAD 7

/* mstatus: interrupts on; and the same for what mret goes back to. */
#define INTERRUPTS 0x8
#define INTERRUPTS_PREVIOUS 0x80
#else
#define CONTEXT_RA 40
#define LOG2_THREAD 6

/* Interrupts on, of SSH-s only; and the same in the level that rfe goes back to. */
#define INTERRUPTS 0x401
#define INTERRUPTS_PREVIOUS 0x404
#endif

#endif
