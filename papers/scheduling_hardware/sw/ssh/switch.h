/* SPDX-License-Identifier: Apache-2.0 */
/* What the two ways of leaving a PE in SOFT mode have in common: the offsets in a
 * thread's struct (backend.h), and CP0's Status. */
#ifndef SWITCH_H
#define SWITCH_H

#define CONTEXT 20
#define CONTEXT_RA 40
#define LOG2_THREAD 6

/* Interrupts on, of SSH-s only; and the same in the level that rfe goes back to. */
#define INTERRUPTS 0x401
#define INTERRUPTS_PREVIOUS 0x404

#endif
