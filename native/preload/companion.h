/* SPDX-License-Identifier: Apache-2.0 */
/* What a library that is loaded beside libokosu-preload.so offers it, which tells it when a process
 * begins, forks and ends. Either may be loaded alone: libokosu-preload.so refers to it weakly (the
 * table of companions is made by meson.build), and without libokosu-preload.so there is no
 * evidence. */
#pragma once

#include "export.h"

#include <stdbool.h>

struct okosu_companion {
    const char *library; /* its file's name */
    /* In the constructor of libokosu-preload.so, with environ there; NULL: nothing to do. */
    void (*begin)(void);
    /* In the child of a fork: count from nothing; inert: serve the process no longer. */
    void (*forked)(bool inert);
    /* Append the line of evidence to the file. Async-signal-safe. */
    void (*evidence)(const char *proof);
};

#define OKOSU_COMPANION OKOSU_EXPORT __attribute__((weak))

/* One for each companion, NULL where it is not loaded. */
extern OKOSU_LOCAL const struct okosu_companion *const okosu_companions[];
extern OKOSU_LOCAL const unsigned okosu_companion_count;

/* The file names of libokosu-preload.so and of the companions that are loaded, ended by NULL. */
OKOSU_LOCAL const char *const *okosu_companion_libraries(void);
