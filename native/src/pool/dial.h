/* SPDX-License-Identifier: Apache-2.0 */
/* dial: a connection to okosu-zerod, and one question at a time. */
#ifndef OKOSU_POOL_DIAL_H
#define OKOSU_POOL_DIAL_H

#include "pool/wire.h"

/* A descriptor; or -errno: -EACCES: who serves there is neither root nor this user, and would see
 * all that is written to its pages. */
int okosu_dial(const char *path);
/* How long an answer may take from now on; 5 s before. 0 or -errno. */
int okosu_dial_wait(int fd, int seconds);
/* The message becomes its answer. `file`: where the descriptor that comes with it goes (-1: none
 * came), NULL: none is expected. The answer's status; or -ECONNRESET: there is nobody any more, or
 * nobody who keeps to wire.h. */
int okosu_dial_ask(int fd, struct okosu_wire *message, int *file);

#endif
