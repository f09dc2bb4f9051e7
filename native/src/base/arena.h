/* SPDX-License-Identifier: Apache-2.0 */
/* Arena: strings and tables that live until the program execs or ends, freed in one go. */
#pragma once

#include <stddef.h>

struct okosu_arena {
    struct okosu_arena_block *blocks;
};

/* Zeroed memory for any type, or NULL when there is none left. */
void *okosu_arena_alloc(struct okosu_arena *arena, size_t size);
/* A formatted string, or NULL when there is no memory left. */
char *okosu_arena_printf(struct okosu_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *okosu_arena_strndup(struct okosu_arena *arena, const char *text, size_t length);
void okosu_arena_free(struct okosu_arena *arena);
