/* SPDX-License-Identifier: Apache-2.0 */
/* wire: what okosu-zerod and its clients say to each other, over a SOCK_SEQPACKET socket.
 *
 * Every message is one struct okosu_wire, in the machine's own byte order (a UNIX socket never
 * leaves it). A client asks, the daemon answers with the same kind and tag: CLEAR when the memory
 * is clean, all others at once. A message of another size, of an unknown kind, or with descriptors
 * ends the connection; an answer that would have to wait for the client ends it, too.
 *
 *     HELLO   value: OKOSU_WIRE_VERSION       -> value: bytes of a unit, slot: how many
 *     TAKE                                     -> slot: a clean unit, the client's from now on; its
 *                                                 file, as a descriptor
 *     GIVE    slot                             -> (the client has unmapped and closed it before)
 *     CLEAR   slot, value: pages of 4096       -> so many pages at the slot's start are zero
 *     STATS                                    -> figure[], of all that the daemon keeps
 *
 * Each slot is a file of one unit. A slot that was given back is cleared for the next client only
 * once no process has its file open or mapped. No other user ever sees what a user's file holds. */
#pragma once

#include <stdint.h>

#define OKOSU_WIRE_VERSION 2

enum okosu_wire_kind {
    OKOSU_WIRE_HELLO = 1,
    OKOSU_WIRE_TAKE,
    OKOSU_WIRE_GIVE,
    OKOSU_WIRE_CLEAR,
    OKOSU_WIRE_STATS,
};

/* figure[] of STATS: units in each state, but for CLEARED: bytes since the daemon began. */
enum okosu_wire_figure {
    OKOSU_WIRE_CLEAN,
    OKOSU_WIRE_HELD,
    OKOSU_WIRE_DIRTY,
    OKOSU_WIRE_BUSY, /* among the others */
    OKOSU_WIRE_CAP,
    OKOSU_WIRE_CLIENTS,
    OKOSU_WIRE_CLEARED,
    OKOSU_WIRE_FAILURES,
    OKOSU_WIRE_FIGURES,
};

struct okosu_wire {
    uint32_t kind, tag;
    /* Of an answer: 0; -EAGAIN: nothing clean now; -EDQUOT: the client has all it may have;
     * -EINVAL: not the client's slot, or a number that cannot be; -EBUSY: being cleared; -EPROTO:
     * another version; -ENOMEM, -EMFILE: no file; -EIO: it could not be cleared, all of it may be
     * dirty; -ETIMEDOUT: the same, and the slot is not the client's any more. */
    int32_t status;
    uint32_t slot;
    uint64_t value;
    uint64_t figure[OKOSU_WIRE_FIGURES];
};
