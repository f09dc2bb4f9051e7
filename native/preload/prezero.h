/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the pool of clean memory for the entry points of libokosu-prezero.so.
 *
 * 1. A block is malloc's or mmap's. malloc's blocks stay in memory when they are freed. The
 * addresses of mmap's blocks are mapped anew when they are unmapped, because a program may have
 * mapped other things over them, or protected them: nothing is ever written to memory that is not
 * known to be the program's heap.
 *
 * 2. A piece of an mmap that is unmapped alone leaves a hole that the kernel may fill: from then on
 * the block belongs to the kernel, and never returns to the pool.
 *
 * 3. A request that the pool cannot serve at once goes to the next function; no request waits.
 *
 * 4. A child of fork has its blocks but no pool (okosu/zero_pool.h): it asks the next function. */
#pragma once

#include "prezero_pool.h"

static inline bool okosu_prezero_owns(const void *p)
{
    size_t span = atomic_load_explicit(&okosu_prezero_span, memory_order_acquire);

    return (uintptr_t)p - atomic_load_explicit(&okosu_prezero_base, memory_order_relaxed) < span;
}

/* Memory for malloc and its kin at a multiple of `align`, a power of two, all zero if `zero`; NULL:
 * ask the next function. */
void *okosu_prezero_alloc(size_t size, size_t align, bool zero);
void okosu_prezero_free(void *p);
/* Whether the block could be made that long where it is. */
bool okosu_prezero_resize(void *p, size_t size);
/* Bytes that the program asked for; 0 if p is no block of malloc's. */
size_t okosu_prezero_usable(const void *p);

/* The program changes how these addresses are mapped: blocks there are mapped anew when they are
 * freed, malloc's as well as mmap's. */
void okosu_prezero_changed(const void *start, size_t length);

/* Clean memory for mmap; NULL as above. */
void *okosu_prezero_map(size_t length);
/* [start, start + length) is unmapped, and lies in the pool's addresses: true if that is done,
 * false if the system call is still to be made. */
bool okosu_prezero_unmap(void *start, size_t length);
