/* SPDX-License-Identifier: Apache-2.0 */
/* options: the command line of okosu-zerod. */
#pragma once

#include "store.h"

enum { ZEROD_ALLOWED = 32 };

struct zerod_options {
    const char *socket; /* NULL: none */
    const char *engine; /* NULL: the first that passes its proof */
    struct zerod_limits limits;
    size_t chunk;                 /* the most bytes pinned at a time; 0: the engine's own limit */
    size_t clients, user_clients; /* how many may be connected at a time, in all and of one user */
    size_t greeting_ms;           /* how long a client may be connected without HELLO */
    uid_t allowed[ZEROD_ALLOWED];
    size_t allowed_count;
    size_t ring; /* slots of the kernel's ring; 0: it is not served */
    bool help, version, list, once, status, verbose;
};

/* 0; or -EINVAL, and the error has been printed. */
int zerod_options_read(struct zerod_options *options, int argc, char **argv);
void zerod_options_help(void);
