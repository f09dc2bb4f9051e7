/* SPDX-License-Identifier: Apache-2.0 */
/* One CPU for each thread of the root process, in the order of OKOSU_PIN.
 *
 * 1. Only the process that the launcher started (OKOSU_ROOT_PID) pins, and the n-th thread it
 * creates takes entry n modulo the length of the list; its main thread is number 0.
 * 2. No child inherits one thread's CPU: a forked child, an exec'd child and what the process
 * spawns run on the whole list.
 * 3. The user's word wins: a thread attribute with an affinity of its own, a later set-affinity
 * call, and OpenMP's own placement where it is in force.
 * 4. Asked for its mask, a thread that we pinned names the whole list, until the program sets a
 * mask itself: programs count CPUs that way, and would otherwise see one and start a single
 * thread. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define OKOSU_MASK_WORDS 128 /* OKOSU_CPU_LIMIT bits */

struct okosu_mask {
    unsigned long words[OKOSU_MASK_WORDS];
};

/* In the constructor: pins the main thread of the root, or frees a child from its parent's CPU. */
void okosu_pin_start(void);

/* In the child of a fork, and before the program filters system calls: pins nothing any more, and
 * puts the calling thread on the whole list. */
void okosu_pin_stop(void);

/* Whether this process pins its threads. */
bool okosu_pin_active(void);

/* pthread_create, with the new thread pinned unless the program or OpenMP places it. */
int okosu_pin_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
                     void *arg);

/* Puts the calling thread on the whole list if we pinned it; returns whether it did so, and the
 * mask before. */
bool okosu_pin_loosen(struct okosu_mask *before);
void okosu_pin_restore(const struct okosu_mask *before);

/* If BITS (of `size` bytes) is a mask that we set, replaces it by the whole list. */
void okosu_pin_widen(void *bits, size_t size);

/* The program has set an affinity mask itself. */
void okosu_pin_user_set(void);
