/* SPDX-License-Identifier: Apache-2.0 */
/* dial: connects to okosu-zerod, and exchanges one message at a time. */
#pragma once

#include "pool/wire.h"

/* A descriptor; or -errno: -EACCES: the server is neither root nor this user, and would see all
 * that is written to its pages. */
int okosu_dial(const char *path);
/* Set how long an answer may take; 5 s by default. 0 or -errno. */
int okosu_dial_wait(int fd, int seconds);
/* Send the message, and replace it by the answer. `file` receives the descriptor that comes with it
 * (-1: none came); NULL: none is expected. Returns the answer's status; or -ECONNRESET: the daemon
 * has ended, or violates wire.h. */
int okosu_dial_ask(int fd, struct okosu_wire *message, int *file);
