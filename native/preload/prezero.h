/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the pool of clean memory for the entry points of libokosu-prezero.so.
 *
 * 1. A block is malloc's or mmap's. malloc's blocks stay in memory when they are freed, unless the
 * program has protected, locked or replaced some of their pages. Those, and the addresses of all
 * blocks of mmap, are mapped anew: nothing is ever written to memory that is not known to be the
 * program's heap.
 *
 * 2. The pool keeps all of its addresses. What the program unmaps in part, or moves away, becomes
 * inaccessible and is served again when the rest of its block is unmapped too: if it were unmapped,
 * the kernel would give the addresses to others, whose blocks lay among ours.
 *
 * 3. A program may know an address that it has unmapped, and map something there. Such units are
 * held as blocks of mmap until they are unmapped.
 *
 * 4. A request that the pool cannot serve at once goes to the next function; no request waits. So
 * does a pointer at which no block of malloc's begins.
 *
 * 5. After mlockall there is no pool: addresses that no block has are the kernel's again.
 *
 * 6. A child of fork has its blocks but no pool (okosu/zero_pool.h): it asks the next function. */
#pragma once

#include "prezero_pool.h"

static inline bool okosu_prezero_owns(const void *p)
{
    size_t span = atomic_load_explicit(&okosu_prezero_span, memory_order_acquire);

    return (uintptr_t)p - atomic_load_explicit(&okosu_prezero_base, memory_order_relaxed) < span;
}

/* Whether [start, start + length) has addresses of the pool. */
static inline bool okosu_prezero_meets(const void *start, size_t length)
{
    size_t span = atomic_load_explicit(&okosu_prezero_span, memory_order_acquire);
    uintptr_t base = atomic_load_explicit(&okosu_prezero_base, memory_order_relaxed);

    return (uintptr_t)start < base + span && length <= PTRDIFF_MAX &&
           (uintptr_t)start + length > base;
}

/* Whether a block of malloc's begins at this address of the pool. */
bool okosu_prezero_is_block(const void *p);
/* Memory for malloc and its kin at a multiple of `align`, a power of two, all zero if `zero`; NULL:
 * ask the next function. */
void *okosu_prezero_alloc(size_t size, size_t align, bool zero);
void okosu_prezero_free(void *p);
/* Whether the block could be made that long where it is. */
bool okosu_prezero_resize(void *p, size_t size);
/* Bytes that the program asked for; 0 if p is no block of malloc's. */
size_t okosu_prezero_usable(const void *p);

/* The program protects these pages, or locks them: malloc's blocks there are mapped anew when they
 * are freed. */
void okosu_prezero_changed(uintptr_t start, size_t length);
/* Whether it did that, or unmapped or replaced some pages, of a block in the range. */
bool okosu_prezero_was_changed(const void *start, size_t length);

/* MADV_DONTNEED: pages of the daemon's become the program's own, because advice does not empty
 * shared memory. False: errno says why. */
bool okosu_prezero_empty(void *start, size_t length);

/* Clean memory for mmap; NULL as above. */
void *okosu_prezero_map(size_t length);
/* munmap() of a range that meets the pool's addresses: 0, or -1 and errno. */
int okosu_prezero_unmap(void *start, size_t length);
/* Call before and after a mapping is put at a fixed place; `done`: it was. False: it must not be,
 * because the pool uses a unit there; errno says ENOMEM. */
bool okosu_prezero_map_over(void *start, size_t length);
void okosu_prezero_mapped_over(void *start, size_t length, bool done);
