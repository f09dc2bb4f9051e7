/* SPDX-License-Identifier: Apache-2.0 */
/* malloc: first fit over a list of free blocks in the order of their addresses, neighbours joined
 * when one is freed. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

/* The header of each block; `next` is valid in free blocks only. The size includes the header and
 * is a multiple of 16. */
struct block {
    size_t size;
    struct block *next;
    unsigned reserved[2];
};

_Static_assert(sizeof(struct block) == 16, "blocks keep what they hold aligned");

extern char __heap_start[], __heap_end[];

static struct lock lock;
static struct block *free_blocks;
/* The memory from here on was never used. */
static char *fresh = __heap_start;

static IN_LIB void heap_lock(void)
{
    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
}

static IN_LIB struct block *take_free(size_t size)
{
    for (struct block **link = &free_blocks; *link != NULL; link = &(*link)->next) {
        struct block *block = *link;

        if (block->size < size)
            continue;
        if (block->size - size >= 2 * sizeof(struct block)) {
            struct block *rest = (struct block *)((char *)block + size);

            rest->size = block->size - size;
            rest->next = block->next;
            block->size = size;
            *link = rest;
        } else {
            *link = block->next;
        }
        return block;
    }
    return NULL;
}

IN_LIB void *malloc(size_t size)
{
    struct block *block = NULL;

    if (size <= (size_t)(__heap_end - __heap_start)) {
        size = (size + 2 * sizeof(struct block) - 1) & ~(sizeof(struct block) - 1);
        heap_lock();
        block = take_free(size);
        if (block == NULL && (size_t)(__heap_end - fresh) >= size) {
            block = (struct block *)fresh;
            block->size = size;
            fresh += size;
        }
        lock_release(&lock);
    }
    if (block == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    return block + 1;
}

static IN_LIB void join_with_next(struct block *block)
{
    struct block *next = block->next;

    if (next != NULL && (char *)block + block->size == (char *)next) {
        block->size += next->size;
        block->next = next->next;
    }
}

IN_LIB void free(void *memory)
{
    struct block *block = (struct block *)memory - 1, *before = NULL;

    if (memory == NULL)
        return;
    heap_lock();
    for (struct block *at = free_blocks; at != NULL && at < block; at = at->next)
        before = at;
    if (before == NULL) {
        block->next = free_blocks;
        free_blocks = block;
        join_with_next(block);
    } else {
        block->next = before->next;
        before->next = block;
        join_with_next(block);
        join_with_next(before);
    }
    lock_release(&lock);
}

IN_LIB void *calloc(size_t count, size_t size)
{
    size_t bytes;
    void *memory;

    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    memory = malloc(bytes);
    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

IN_LIB void *realloc(void *memory, size_t size)
{
    struct block *block = (struct block *)memory - 1;
    void *larger;

    if (memory != NULL && size <= block->size - sizeof(*block))
        return memory;
    larger = malloc(size);
    if (larger != NULL && memory != NULL) {
        memcpy(larger, memory, block->size - sizeof(*block));
        free(memory);
    }
    return larger;
}

/* The blocks before the aligned address become one of their own, which is free. */
IN_LIB void *aligned_alloc(size_t alignment, size_t size)
{
    struct block *block, *aligned;
    char *memory;

    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        errno = EINVAL;
        return NULL;
    }
    if (alignment <= sizeof(struct block))
        return malloc(size);
    memory = size <= SIZE_MAX - alignment ? malloc(size + alignment) : malloc(SIZE_MAX);
    if (memory == NULL)
        return NULL;
    block = (struct block *)memory - 1;
    aligned = (struct block *)(((uintptr_t)memory + alignment - 1) & ~(alignment - 1)) - 1;
    if (aligned != block) {
        aligned->size = block->size - (size_t)((char *)aligned - (char *)block);
        block->size = (size_t)((char *)aligned - (char *)block);
        free(memory);
    }
    return aligned + 1;
}

IN_LIB int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *aligned;
    int error = errno;

    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    aligned = aligned_alloc(alignment, size);
    /* It reports by its value only. */
    errno = error;
    if (aligned == NULL)
        return ENOMEM;
    *memory = aligned;
    return 0;
}
