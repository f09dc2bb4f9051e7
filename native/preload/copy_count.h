/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of the copies and sets by size, for the effect proof.
 *
 * Each thread counts in a slot of its own, so that threads do not slow each other down. Slots are
 * never reused, so that the counts of a thread that ended are kept. Threads beyond the last slot
 * share one, where a count may be lost, but never added. */
#pragma once

#include "base/json.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Class c holds sizes above 2^(c-1) and up to 2^c; class 0 those of 0 and 1. (No
 * memory is of more than 2^63 bytes.) */
#define OKOSU_COUNT_CLASSES 64
#define OKOSU_COUNT_SLOTS 128

/* Where libc's own routines are timed, only calls of more bytes than this are: two readings of the
 * clock would take longer than a shorter copy. */
#define OKOSU_COUNT_TIMED_ABOVE 4096

/* So many calls of one class by one thread show well enough that okosu's routines serve: counting more
 * would only take time, a fifth of that of a short copy. */
#define OKOSU_COUNT_ENOUGH (1 << 18)

enum okosu_count_kind { OKOSU_COUNT_COPY, OKOSU_COUNT_SET, OKOSU_COUNT_KINDS };

struct okosu_count_slot {
    struct {
        _Atomic uint64_t calls, bytes;
    } classes[OKOSU_COUNT_KINDS][OKOSU_COUNT_CLASSES];
    _Atomic uint64_t timed_ns;
} __attribute__((aligned(64)));

/* The calling thread's slot, NULL until okosu_count_take() gave it one. Eight bytes of the static TLS
 * that every preloaded library competes for. */
extern __thread struct okosu_count_slot *okosu_count_mine
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct okosu_count_slot *okosu_count_take(void);
/* Start again from nothing (child of fork). */
void okosu_count_restart(void);
/* Write the members "calls", "bytes", "classes", and the same for sets, with the present sums over
 * all threads; with TIMED also "timed_ns", the time of all calls of more than "timed_above" bytes. */
void okosu_count_put(struct okosu_json *json, bool timed);

/* Without a branch, which sizes in no order would make wrong. */
static inline unsigned okosu_count_class(size_t n)
{
    size_t below = n - (n != 0);

    return 63 ^ (unsigned)__builtin_clzll(2 * below + 1);
}

/* Adds without a lock prefix: the slot has one writer. */
static inline uint64_t okosu_count_add(_Atomic uint64_t *counter, uint64_t by)
{
    uint64_t sum = atomic_load_explicit(counter, memory_order_relaxed) + by;

    atomic_store_explicit(counter, sum, memory_order_relaxed);
    return sum;
}

/* SLOT is the calling thread's. Returns its calls of this class. */
static inline uint64_t okosu_count_note(struct okosu_count_slot *slot, enum okosu_count_kind kind,
                                        size_t n)
{
    unsigned c = okosu_count_class(n);

    okosu_count_add(&slot->classes[kind][c].bytes, n);
    return okosu_count_add(&slot->classes[kind][c].calls, 1);
}

static inline void okosu_count_time(struct okosu_count_slot *slot, uint64_t ns)
{
    okosu_count_add(&slot->timed_ns, ns);
}
