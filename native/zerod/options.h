/* SPDX-License-Identifier: Apache-2.0 */
/* options: what okosu-zerod was asked to do. */
#ifndef ZEROD_OPTIONS_H
#define ZEROD_OPTIONS_H

#include "store.h"

enum { ZEROD_ALLOWED = 32 };

struct zerod_options {
    const char *socket; /* NULL: none */
    const char *engine; /* NULL: the first that proves itself */
    struct zerod_limits limits;
    size_t chunk;   /* bytes that are pinned at a time at most; 0: what the engine can */
    size_t clients; /* at a time */
    uid_t allowed[ZEROD_ALLOWED];
    size_t allowed_count;
    size_t ring; /* slots of the kernel's ring; 0: it is not served */
    bool help, version, list, once, status, verbose;
};

/* 0; or -EINVAL, and it was said why. */
int zerod_options_read(struct zerod_options *options, int argc, char **argv);
void zerod_options_help(void);

#endif
