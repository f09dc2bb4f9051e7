/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broker: units of a pool that are okosu-zerod's: clean when they come, cleared by the daemon while
 * the program holds on to them, and clean for the next program when this one is gone.
 *
 * Such a unit is a page of a file, mapped over the pool's own address space, and not there in a
 * child of fork. Only fetch, clear and drop talk to the daemon, which may take long; they are for
 * the pool's worker. Where the daemon is gone they fail, and what was mapped stays: it is nobody
 * else's any more. */
#ifndef OKOSU_POOL_BROKER_H
#define OKOSU_POOL_BROKER_H

#include <stdbool.h>
#include <stddef.h>

struct okosu_broker;

/* What a unit's memory is. */
enum okosu_unit_memory {
    OKOSU_UNIT_OWN,      /* the pool's own mapping */
    OKOSU_UNIT_BROKERED, /* the daemon's */
    OKOSU_UNIT_LEFT,     /* of a daemon that is gone: shared memory, which the kernel can't renew */
};

/* A pool of `count` units at `base`. 0; or -errno: as connect() has it; -EACCES: the daemon is
 * neither root's nor this user's; -EPROTO: it is none, of another version, or has other units. */
int okosu_broker_open(struct okosu_broker **broker, const char *path, void *base, size_t unit,
                      size_t count);
/* Wake whoever waits for the daemon; nobody shall ask any more. */
void okosu_broker_end(struct okosu_broker *broker);
/* Not before the pool's memory is unmapped. NULL is allowed. */
void okosu_broker_close(struct okosu_broker *broker);

enum okosu_unit_memory okosu_broker_memory(struct okosu_broker *broker, size_t index);
size_t okosu_broker_units(struct okosu_broker *broker); /* that are the daemon's */

/* Map a clean unit of the daemon's at an OWN unit's place, populated. 0; -EAGAIN: it has none now;
 * else -errno, and the unit is to be dropped unless it is OWN. */
int okosu_broker_fetch(struct okosu_broker *broker, size_t index);
/* Have the first `bytes` of a BROKERED unit cleared. 0; else the unit is to be dropped. */
int okosu_broker_clear(struct okosu_broker *broker, size_t index, size_t bytes);
/* A unit is to be OWN again: the caller has mapped its own memory over it. */
void okosu_broker_drop(struct okosu_broker *broker, size_t index);
/* The same, without talking to the daemon now. */
void okosu_broker_leave(struct okosu_broker *broker, size_t index);

#endif
