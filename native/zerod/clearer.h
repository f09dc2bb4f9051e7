/* SPDX-License-Identifier: Apache-2.0 */
/* clearer: the thread that clears slots with the engine, and with the last engine of the table once
 * that has failed. */
#pragma once

#include "store.h"

enum { ZEROD_JOBS = 64 };

/* A clearing in progress. */
struct zerod_job {
    struct zerod_shelf *shelf;
    size_t slot, bytes;
    uint64_t ticket, began;
    const struct zerod_use *use;
    bool asked;   /* by the client that holds the slot, for `bytes` only */
    bool overdue; /* given up; the hardware may still write there, so nobody gets it yet */
};

struct zerod_clearer {
    struct zerod_store *store;
    struct zerod_use last; /* the engine that works on any machine */
    bool failed;           /* the store's engine has failed: nothing more is submitted to it */
    struct zerod_job jobs[ZEROD_JOBS];
    size_t count;    /* of jobs, overdue ones included */
    unsigned streak; /* clearings begun since memory was last populated or dropped */
    uint64_t next;   /* ns: the time before which the rate allows nothing */
    pthread_t thread;
    struct zerod_hand hand;
};

/* 0 or -errno. */
int zerod_clearer_start(struct zerod_clearer *clearer, struct zerod_store *store);
/* Sets store->stop, and returns when only overdue jobs are left. True: there are such jobs, so only
 * the end of the process may unmap the memory. */
bool zerod_clearer_end(struct zerod_clearer *clearer);
/* Call with the store's lock held, which is released meanwhile: does one piece of work. False:
 * there is none now. For --once and the tests; the thread only repeats this. */
bool zerod_clearer_step(struct zerod_clearer *clearer);
void zerod_clearer_init(struct zerod_clearer *clearer, struct zerod_store *store);
