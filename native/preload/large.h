/* SPDX-License-Identifier: Apache-2.0 */
/* Large blocks: served from one reserved region of the address space, in runs of 2 MiB chunks.
 *
 * 1. A pointer is a large block's exactly if it lies in the region: one subtraction and one
 * compare.
 * 2. A block begins in the first chunk of its run, at the offset that its chunk records.
 * 3. The lock is held for bookkeeping only; a run is mapped, moved and discarded by the one thread
 *    that owns it (USED, asked for by that thread, or LEAVING).
 * 4. Runs in use plus kept runs never exceed the most that was ever in use: the program's footprint
 *    stays below its own peak. Without OKOSU_RETAIN=1 no more is kept than twice the largest freed
 *    block of up to 32 MiB, which is glibc's own rule.
 * 5. The region lies where the kernel places nothing by itself. Some calls with MAP_FIXED unmap
 * what was there before they fail; the hole must not be given to another thread's mmap before it is
 * mended.
 * 6. Every failure returns NULL and leaves the caller to the next allocator; nothing aborts.
 *
 * 7. A freed block is kept only if its memory is still as we mapped it: a file that the program
 * mapped into it, a protection or a hole ends with the block, as it does with glibc, which unmaps
 * each large block. The hooks of mmap, mprotect and their kin mark the chunks that they change,
 * which costs the blocks nothing. System calls past libc escape the hooks; so before a block above
 * 32 MiB is kept, the kernel is asked too (okosu_is_plain). A smaller block is not worth that
 * call, and glibc, which takes those from its heap after the first was freed, does not look either.
 *
 * Known limits: the reservation counts as address space. RLIMIT_AS is respected (a quarter at most,
 * and what is unused is given back when memory runs out), but mlockall(MCL_CURRENT) compares the
 * whole with RLIMIT_MEMLOCK and fails where that is finite. A memory policy that the program gives
 * to a block stays with it when it is kept. mallinfo2 and malloc_info speak of the next allocator
 * alone. */
#pragma once

#include "export.h"

#include "sys.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request of at least this size is large; a large block that shrinks below half of it moves
 * out. */
#define OKOSU_LARGE_MIN OKOSU_CHUNK

/* `span` is written after `base` and read before it, so that a span is never combined with an older
 * base. */
extern OKOSU_LOCAL _Atomic uintptr_t okosu_large_base;
extern OKOSU_LOCAL atomic_size_t okosu_large_span;

static inline bool okosu_large_owns(const void *p)
{
    size_t span = atomic_load_explicit(&okosu_large_span, memory_order_acquire);

    return (uintptr_t)p - atomic_load_explicit(&okosu_large_base, memory_order_relaxed) < span;
}

/* The program is about to change mappings in this range, some of which may be a block's. */
void okosu_large_changed(uintptr_t start, size_t length);

/* Reserves the region, which is else done at the first block. */
void okosu_large_begin(void);

/* `align` is a power of two. *zeroed says whether the block is known to hold zeros. */
void *okosu_large_alloc(size_t size, size_t align, bool *zeroed);
void okosu_large_free(void *p);

/* Resize the block to `size` bytes, perhaps at another address; NULL if that is impossible, and the
 * block is then unchanged. */
void *okosu_large_resize(void *p, size_t size);

/* Bytes from p on that the program may use; 0 if p is no block. */
size_t okosu_large_usable(const void *p);

/* Returns kept runs to the system; true if there were any. */
bool okosu_large_trim(void);

/* Returns kept runs, and under an RLIMIT_AS the unused end of the region, to the system. True if
 * that freed anything, so that an allocation that failed can be tried again. */
bool okosu_large_relieve(void);

void okosu_large_prefork(void);
void okosu_large_postfork(bool in_child);
