/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: the daemon's memory. A shelf for each user, of `cap` bytes of address space; all shelves
 * together hold `cap` bytes of memory at most. Each slot that has memory is a file of its own, so
 * that a client has descriptors of the slots that it took and of no others. No page moves from one
 * file to another: it is handed back to the kernel, and the kernel hands out a fresh one.
 *
 * A slot of a shelf is in one state:
 *
 *     HOLE --populated--> CLEAN --taken--> HELD --given, or its client gone--> DIRTY --> CLEAN
 *                                           ^ `--asked--> HELD, busy --cleared--'
 *
 * HOLE, CLEAN and DIRTY slots are `busy`, too, while their memory is brought, cleared or dropped. A
 * DIRTY slot that some process still has open or mapped stays as it is: that process may be reading
 * or writing it. All functions but fill and empty are called with the lock held; none touches a
 * pool's memory or waits. */
#pragma once

#include "hand.h"
#include "pins.h"

#include "pool/wire.h"

#include <pthread.h>
#include <sys/types.h>

enum { ZEROD_SHELVES = 32 };

enum zerod_state { ZEROD_HOLE, ZEROD_CLEAN, ZEROD_HELD, ZEROD_DIRTY, ZEROD_STATES };

struct zerod_client {
    uid_t uid;
    struct zerod_shelf *shelf; /* NULL before HELLO */
    size_t held;               /* slots */
    /* Send one message, with a descriptor or -1. The call must not free the client; that happens
     * later. */
    void (*answer)(struct zerod_client *client, const struct okosu_wire *message, int fd);
};

struct zerod_slot {
    uint8_t state;
    bool busy;
    int fd;                      /* of its file, unless it is a HOLE */
    uint32_t tag;                /* of the CLEAR request in progress */
    uint32_t pages;              /* of 4096 from its start that need clearing */
    struct zerod_client *client; /* of a HELD slot */
};

struct zerod_shelf {
    uid_t uid;
    unsigned char *base;
    struct zerod_slot *slots;
    size_t in[ZEROD_STATES], clients;
    struct zerod_pins pins;
    bool pinned;  /* its pages never change */
    bool filling; /* between the watermarks, and being filled up */
};

struct zerod_limits {
    size_t unit, cap;       /* bytes */
    size_t low, high, keep; /* bytes of clean slots, each shelf: as in zero_pool.h */
    size_t client_cap;      /* bytes that one client may hold */
    size_t user_cap; /* bytes that the clients of one user may hold, or have given back dirty */
    uint64_t rate;   /* bytes cleared and populated per second; 0: no limit */
    int node;        /* counted from 1; 0: any */
    bool hugetlb;
    unsigned patience_ms; /* an engine that takes longer for a unit is dropped */
};

struct zerod_store {
    struct zerod_limits limits;
    size_t slots; /* slots of each shelf, and how many slots may hold memory in all */
    struct zerod_use use;
    struct zerod_hand *hand; /* does what the clearer waits for; NULL: the clearer does it */
    pthread_mutex_t lock;
    pthread_cond_t work; /* something to clear, populate or drop, or the end */
    bool stop;
    struct zerod_shelf *shelf[ZEROD_SHELVES];
    size_t shelves, clients;
    size_t turn;    /* the user who is served first, so that each has a turn */
    size_t present; /* slots that hold memory, or are being populated */
    size_t asked;   /* HELD slots whose clients wait for them to be cleared */
    bool starved;   /* the kernel had no memory at the last try */
    bool kept;      /* some DIRTY slots could not be cleared, because a process has them open */
    uint64_t cleared, failures;
};

/* 0 or -errno. The limits must be valid (see options.c). */
int zerod_store_open(struct zerod_store *store, const struct zerod_limits *limits,
                     const struct zerod_use *use);
void zerod_store_close(struct zerod_store *store);
/* The shelf of this user, made if there is none. 0; or -errno, and *shelf is as it was. */
int zerod_store_shelf(struct zerod_store *store, uid_t uid, struct zerod_shelf **shelf);
void zerod_store_set(struct zerod_shelf *shelf, size_t slot, enum zerod_state state);
/* The i-th shelf of those that are to be looked at, i below store->shelves. */
struct zerod_shelf *zerod_store_turn(const struct zerod_store *store, size_t i);
/* The lowest slot in this state that is not busy, or store->slots. */
size_t zerod_store_find(const struct zerod_store *store, const struct zerod_shelf *shelf,
                        enum zerod_state state);
/* Give a HOLE that is busy a file with memory, or take it away from a slot that is busy. The caller
 * sets the state. 0; or -errno, and nothing has changed. */
int zerod_store_fill(const struct zerod_store *store, struct zerod_shelf *shelf, size_t slot);
int zerod_store_empty(const struct zerod_store *store, struct zerod_shelf *shelf, size_t slot);
unsigned char *zerod_store_at(const struct zerod_store *store, const struct zerod_shelf *shelf,
                              size_t slot);
