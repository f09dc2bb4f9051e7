/* SPDX-License-Identifier: Apache-2.0 */
/* Arena: a list of blocks; none is ever freed alone, so that no caller keeps track of who owns a
 * string. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct okosu_arena_block {
    struct okosu_arena_block *next;
    _Alignas(max_align_t) unsigned char data[];
};

void *okosu_arena_alloc(struct okosu_arena *arena, size_t size)
{
    struct okosu_arena_block *block;

    if (size > (size_t)-1 - sizeof(*block))
        return NULL;
    block = calloc(1, sizeof(*block) + size);
    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    return block->data;
}

char *okosu_arena_printf(struct okosu_arena *arena, const char *format, ...)
{
    va_list args, again;
    char *text = NULL;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length >= 0)
        text = okosu_arena_alloc(arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

char *okosu_arena_strndup(struct okosu_arena *arena, const char *text, size_t length)
{
    char *copy = okosu_arena_alloc(arena, length + 1);

    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void okosu_arena_free(struct okosu_arena *arena)
{
    while (arena->blocks) {
        struct okosu_arena_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
}
