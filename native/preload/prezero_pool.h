/* SPDX-License-Identifier: Apache-2.0 */
/* The pool behind libokosu-prezero.so: when it is made, how much it keeps, and what it served.
 *
 * It keeps ready what the program has shown that it uses: nothing at the first request, then as
 * much as the largest one. How much of that is kept clean is counted separately, from the requests
 * that must be zero: as much as the largest of them, or half of what they held at once. No other
 * memory is cleared ahead. */
#pragma once

#include "export.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A smaller request fills no huge page, and libc's heap serves many of them without a fault. */
#define OKOSU_PREZERO_MIN ((size_t)2 << 20)

/* `span` is written after `base` and read before it; 0 until there is a pool. */
extern OKOSU_LOCAL _Atomic uintptr_t okosu_prezero_base;
extern OKOSU_LOCAL atomic_size_t okosu_prezero_span;

enum okosu_prezero_need {
    OKOSU_PREZERO_ANY,  /* its bytes may be anything */
    OKOSU_PREZERO_ZERO, /* all zero: cleared at this point if necessary */
    OKOSU_PREZERO_CLEAN /* all zero, and only if it is in memory and clean already */
};

/* A block of at least `bytes`, whose first *dirty bytes may hold anything; NULL: ask the next
 * function. */
char *okosu_prezero_take(size_t bytes, enum okosu_prezero_need need, size_t *dirty);
/* Extend the block to at least `bytes` where it lies; *dirty as above. False: there is no room
 * behind it. */
bool okosu_prezero_extend(char *block, size_t bytes, bool was_zero, size_t *dirty);
/* Bytes of the held block that begins here, or 0. */
size_t okosu_prezero_size(const char *block);
/* The start of the held block that this address of the pool is in, or NULL. */
char *okosu_prezero_block(const void *at);
/* Hold the unit at this address, which nobody holds. False: the pool uses it just now. */
bool okosu_prezero_seize(const void *at);
void okosu_prezero_give(char *block, size_t dirty, bool was_zero);
/* Map its addresses anew. False: the kernel refused; the block stays held and unused. */
bool okosu_prezero_renew(char *block, bool was_zero);
/* End the pool's thread, because only a process of one thread may do what follows. False: the pool
 * has none, and is not to be resumed. */
bool okosu_prezero_pause(void);
void okosu_prezero_resume(void);
/* Whether these addresses are private memory, and not the daemon's. */
bool okosu_prezero_is_private(const void *at, size_t bytes);
/* From now on nothing more is served, and the pool keeps no addresses but those of held blocks,
 * because what the program is about to do to all its memory (mlockall) would be done to the pool's
 * too. */
void okosu_prezero_stop(void);
/* Whether that was called: addresses that no block has are the kernel's. */
bool okosu_prezero_is_stopped(void);
