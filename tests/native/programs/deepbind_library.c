/* SPDX-License-Identifier: Apache-2.0 */
/* A library that deepbind.c loads with RTLD_DEEPBIND. With -DOWN it brings an allocator of its own,
 * which is why libraries are loaded so. */
#include "deepbind.h"

#include <string.h>

#ifdef OWN
static char arena[(size_t)64 << 20];
static size_t used;

void *malloc(size_t size)
{
    char *p = arena + used;

    used += (size + 31) & ~(size_t)15;
    memcpy(p, &size, sizeof size);
    return used > sizeof arena ? NULL : p + 16;
}

void free(void *p)
{
    if (p && ((char *)p < arena || (char *)p >= arena + sizeof arena))
        abort();
}

void *realloc(void *p, size_t size)
{
    char *moved = malloc(size);
    size_t old = 0;

    if (p)
        memcpy(&old, (char *)p - 16, sizeof old);
    if (moved && p)
        memcpy(moved, p, old < size ? old : size);
    free(p);
    return moved;
}
#endif

/* A pointer in its data, as libraries keep that let the program choose an allocator. */
static void (*release)(void *) = free;

static void *give(size_t size)
{
    return malloc(size);
}

static void take(void *p)
{
    free(p);
}

static void take_by_pointer(void *p)
{
    release(p);
}

static void *change(void *p, size_t size)
{
    return realloc(p, size);
}

const struct deep deep = {give, take, take_by_pointer, change};
