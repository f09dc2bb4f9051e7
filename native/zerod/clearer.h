/* SPDX-License-Identifier: Apache-2.0 */
/* clearer: the thread that makes slots clean, by the engine; and by the last one
 * once that has failed. */
#ifndef ZEROD_CLEARER_H
#define ZEROD_CLEARER_H

#include "store.h"

enum { ZEROD_JOBS = 64 };

/* A clearing under way. */
struct zerod_job {
    struct zerod_shelf *shelf;
    size_t slot, bytes;
    uint64_t ticket, began;
    const struct zerod_use *use;
    bool asked;   /* by the client that holds it, and of `bytes` only */
    bool overdue; /* given up, but the hardware may yet write there: nobody gets it before */
};

struct zerod_clearer {
    struct zerod_store *store;
    struct zerod_use last; /* the engine that serves anywhere */
    bool failed;           /* the store's engine: nothing more is submitted to it */
    struct zerod_job jobs[ZEROD_JOBS];
    size_t count;  /* of jobs, overdue ones included */
    uint64_t next; /* ns: not before, by the rate */
    pthread_t thread;
    struct zerod_hand hand;
};

/* 0 or -errno. */
int zerod_clearer_start(struct zerod_clearer *clearer, struct zerod_store *store);
/* Sets store->stop, and returns when nothing but overdue jobs is under way. True: there are such
 * jobs, so memory must not be unmapped by anything but the end of the process. */
bool zerod_clearer_end(struct zerod_clearer *clearer);
/* With the store's lock held, which is let go meanwhile: one thing that is to be done. False: there
 * is none now. For --once and the tests; the thread does nothing else. */
bool zerod_clearer_step(struct zerod_clearer *clearer);
void zerod_clearer_init(struct zerod_clearer *clearer, struct zerod_store *store);

#endif
