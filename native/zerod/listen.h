/* SPDX-License-Identifier: Apache-2.0 */
/* listen: the name of the socket, which has one owner at a time, even after a daemon that was
 * killed. */
#pragma once

#include <stdbool.h>

struct zerod_listener {
    int fd, lock;
    const char *path; /* of the socket that was made here; NULL: there is none */
};

/* The name of the socket that a service manager has passed to this process, or NULL. */
const char *zerod_listen_passed(void);
/* Listen at `path`, where other users may connect or only the daemon's own; or on the socket that
 * was passed. 0; or -errno, and the error has been printed. */
int zerod_listen(struct zerod_listener *listener, const char *path, bool others);
void zerod_listen_end(struct zerod_listener *listener);
