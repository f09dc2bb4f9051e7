/* SPDX-License-Identifier: Apache-2.0 */
/* engine: a method of clearing memory with idle hardware. Each is one file and one row of the
 * table; no other code knows their names. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory to clear: multiples of 4096, within one pinned chunk. */
struct zerod_range {
    unsigned char *at;
    size_t bytes;
    void *pin;     /* of the chunk, if the engine pins memory */
    size_t offset; /* of `at` in the chunk */
};

struct zerod_engine {
    const char *name, *doc;
    size_t depth; /* how many clearings may be in progress at once */
    /* Find the hardware. 0, and its name in about[room], empty if it has none; or -errno, and the
     * reason there as a sentence. An engine that would clear with the CPU's ordinary threads opens
     * only if `asked`, that is, if the user named it. */
    int (*open)(void **state, bool asked, char *about, size_t room);
    /* If this is not NULL, memory must be pinned before it is cleared, at most `chunk` bytes at a
     * time, and its pages must not be exchanged until it is unpinned. NULL: any memory can be
     * cleared. */
    int (*pin)(void *state, void *at, size_t bytes, void **pin);
    void (*unpin)(void *state, void *pin);
    size_t (*chunk)(const void *state);
    /* Begin a clearing. 0 and a ticket, or -errno: nothing was begun. */
    int (*submit)(void *state, const struct zerod_range *range, uint64_t *ticket);
    /* 1: done, and every CPU reads zeros. 0: not yet. -errno: failed, and the hardware writes no
     * more. A ticket is valid until poll has returned something other than 0. */
    int (*poll)(void *state, uint64_t ticket);
    void (*close)(void *state);
};

/* Every engine that was built, the one with the least cost to the CPU first; ended by NULL. */
extern const struct zerod_engine *const zerod_engines[];
/* The last of them, which works on any machine, and replaces one that fails. */
extern const struct zerod_engine *const zerod_engine_last;

/* An engine that has been opened and has proved itself. */
struct zerod_use {
    const struct zerod_engine *engine;
    void *state;
    size_t chunk; /* the most bytes pinned at a time; 0: the engine's own limit */
};
