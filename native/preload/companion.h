/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of a library that is loaded beside libokosu-preload.so, which tells it when a
 * process begins, forks and ends. Either library may be loaded alone: libokosu-preload.so refers to
 * the other weakly (meson.build makes the table of companions), and without libokosu-preload.so
 * there is no evidence. */
#pragma once

#include "export.h"

#include <stdbool.h>

struct okosu_proof;

struct okosu_companion {
    const char *library; /* its file's name */
    /* Called in the constructor of libokosu-preload.so, when environ is set; NULL: nothing to
     * do. */
    void (*begin)(void);
    /* Called in the child of a fork: restart the counts; `inert`: stop serving the process. */
    void (*forked)(bool inert);
    /* Called before the program filters system calls; NULL: nothing to do. */
    void (*filtered)(void);
    /* Write the line of evidence. Async-signal-safe. */
    void (*evidence)(struct okosu_proof *proof);
};

#define OKOSU_COMPANION OKOSU_EXPORT __attribute__((weak))

/* One for each companion, NULL where it is not loaded. */
extern OKOSU_LOCAL const struct okosu_companion *const okosu_companions[];
extern OKOSU_LOCAL const unsigned okosu_companion_count;

/* The file names of libokosu-preload.so, of libokosu-prime.so and of the companions that are loaded,
 * ended by NULL. */
OKOSU_LOCAL const char *const *okosu_companion_libraries(void);
