/* SPDX-License-Identifier: Apache-2.0 */
/* broker: units of a pool that come from okosu-zerod: clean when they arrive, cleared by the daemon
 * while the program keeps them, and clean for the next program when this one has ended.
 *
 * Such a unit is a page of a file, mapped over the pool's own address space, and absent in a child
 * of fork. Only fetch, clear and drop talk to the daemon, which may take long; only the pool's
 * worker calls them. When the daemon has ended they fail, and what is mapped stays, because nobody
 * else uses it any more. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct okosu_broker;

/* The kinds of memory that a unit can have. */
enum okosu_unit_memory {
    OKOSU_UNIT_OWN,      /* the pool's own mapping */
    OKOSU_UNIT_BROKERED, /* a page of the daemon's file */
    OKOSU_UNIT_LEFT,     /* of a daemon that ended: shared memory, which cannot be renewed */
};

/* Connect for a pool of `count` units at `base`. 0; or -errno: as connect() returns it; -EACCES:
 * the daemon is neither root's nor this user's; -EPROTO: the peer is not okosu-zerod, has another
 * version, or units of another size. */
int okosu_broker_open(struct okosu_broker **broker, const char *path, void *base, size_t unit,
                      size_t count);
/* Wake all threads that wait for the daemon; no further request is allowed. */
void okosu_broker_end(struct okosu_broker *broker);
/* Call after the pool's memory has been unmapped. NULL is allowed. */
void okosu_broker_close(struct okosu_broker *broker);

enum okosu_unit_memory okosu_broker_memory(struct okosu_broker *broker, size_t index);
size_t okosu_broker_units(struct okosu_broker *broker); /* the daemon's, in units */

/* Map a clean unit of the daemon, populated, in the place of an OWN unit. 0; -EAGAIN: the daemon
 * has none now; else -errno, and the unit must be dropped unless it is OWN. */
int okosu_broker_fetch(struct okosu_broker *broker, size_t index);
/* Have the first `bytes` of a BROKERED unit cleared. 0; else the unit must be dropped. */
int okosu_broker_clear(struct okosu_broker *broker, size_t index, size_t bytes);
/* The unit is OWN again, because the caller has mapped its own memory over it. */
void okosu_broker_drop(struct okosu_broker *broker, size_t index);
/* As okosu_broker_drop(), but the daemon is told later. */
void okosu_broker_leave(struct okosu_broker *broker, size_t index);
