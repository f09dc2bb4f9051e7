/* SPDX-License-Identifier: Apache-2.0 */
/* Small anonymous mappings, cut from advised regions.
 *
 * Interpreters and allocators take their memory in mappings of 64 KiB to 1 MiB (CPython's arenas are
 * one each), and none of these can hold a huge page. Here such a call gets the next piece of a larger
 * mapping that was advised as a whole, so that pieces that follow each other share huge pages.
 *
 * 1. The program sees mmap's results: a place of the kernel's choice, zeros, its own protection and
 * advice from then on. A piece is unmapped, protected, moved or replaced as any other mapping, and
 * is never handed out again.
 *
 * 2. Nothing stays when all pieces of a region are unmapped: what no piece was cut from is unmapped
 * when the region is left for the next.
 *
 * 3. A region is charged to the budget as a whole until all its pieces are gone.
 *
 * 4. Whatever fails leaves the call to mmap. Where the address space is limited, or system calls are
 * filtered, no region begins.
 *
 * Known limits: the rest of the region that pieces are cut from, up to 32 MiB, counts as address
 * space and as committed memory; it is given back when memory runs out. A piece may lie beside
 * readable memory where the kernel would have left a hole. A piece that is unmapped while others of
 * its huge page are not is free memory only once the kernel has split that page. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A shorter mapping is not worth a piece of a huge page. */
#define OKOSU_SMALL_MIN ((size_t)64 << 10)

/* Whether a call of mmap is one to serve: anonymous, private, writable data of OKOSU_SMALL_MIN bytes
 * up to one chunk, without wishes as to its place. */
bool okosu_small_wants(const void *hint, size_t length, int prot, int flags, long offset);

/* The address of `length` bytes of zeros, or NULL if mmap is to serve. */
void *okosu_small_map(size_t length);

/* The program is about to unmap or to replace this range. */
void okosu_small_forget(const void *start, size_t length);

/* Returns what no piece was cut from to the system; true if that was anything. */
bool okosu_small_relieve(void);

void okosu_small_prefork(void);
void okosu_small_postfork(bool in_child);
