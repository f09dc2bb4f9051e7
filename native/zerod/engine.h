/* SPDX-License-Identifier: Apache-2.0 */
/* engine: a way to have memory cleared by hardware that idles. One file and one row of the table
 * each; nothing else knows their names. */
#ifndef ZEROD_ENGINE_H
#define ZEROD_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory to clear: multiples of 4096, within one pinned chunk. */
struct zerod_range {
    unsigned char *at;
    size_t bytes;
    void *pin;     /* of the chunk, where the engine pins */
    size_t offset; /* of `at` in it */
};

struct zerod_engine {
    const char *name, *doc;
    size_t depth; /* clearings under way at once, at most */
    /* Find the hardware. 0, and what it calls itself in about[room], which is empty where it has no
     * name; or -errno and a sentence there why it is not to be had. What would clear by the CPU's
     * ordinary threads is only had when it was asked for by name. */
    int (*open)(void **state, bool asked, char *about, size_t room);
    /* Memory must be pinned before it is cleared, `chunk` bytes at a time at most, and its pages
     * must not be exchanged until it is let go. NULL: any memory serves. */
    int (*pin)(void *state, void *at, size_t bytes, void **pin);
    void (*unpin)(void *state, void *pin);
    size_t (*chunk)(const void *state);
    /* Begin. 0 and a ticket, or -errno: nothing was begun. */
    int (*submit)(void *state, const struct zerod_range *range, uint64_t *ticket);
    /* 1: done, and every CPU reads zeros. 0: not yet. -errno: failed, and the hardware writes no
     * more. A ticket is good until poll returned something else than 0. */
    int (*poll)(void *state, uint64_t ticket);
    void (*close)(void *state);
};

/* Every engine that was built, the one that costs the CPU least first; ended by NULL. */
extern const struct zerod_engine *const zerod_engines[];
/* The last of them, which serves on any machine, and wherever another one fails. */
extern const struct zerod_engine *const zerod_engine_last;

/* An engine that has been opened and has proved itself. */
struct zerod_use {
    const struct zerod_engine *engine;
    void *state;
    size_t chunk; /* bytes that are pinned at a time at most; 0: as many as the engine can */
};

#endif
