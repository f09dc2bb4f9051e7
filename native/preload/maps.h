/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings that the program makes itself, advised: anonymous ones, aligned to 2 MiB where it leaves
 * their place to the kernel, and with the tier `shared` shared memory, which the kernel aligns.
 *
 * 1. The program sees exactly mmap's and munmap's results: length, protection, errno.
 *
 * 2. Advised memory is charged to the budget until it is unmapped or replaced, all of it at once or
 * from one of its ends, as allocators cut what they align; a hole in the middle stays charged, so
 * that at worst too little is advised.
 *
 * 3. A mapping is advised as a whole, the ends that can hold no huge page too, or not at all. Advice to
 * a part would make two mappings of it in the kernel, and mremap fails for two at once. What is longer
 * than the rest of the budget is taken for the address space of a table that will never be full.
 *
 * 4. Advice to shared memory changes what a page is, and not what is in it: no fork copies it, a hole
 * that is punched reads as zeros, and what is behind the end of the file stays out of reach. Each
 * process that maps the memory charges it to a budget of its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a call of mmap is one to improve: anonymous, private, writable, data, >= 2 MiB. */
bool okosu_maps_wants(size_t length, int prot, int flags, long offset);

/* mmap of such a call: the address or -errno (test with okosu_sys_failed). */
long okosu_maps_map(void *hint, size_t length, int prot, int flags);

/* Whether a call of mmap is one whose result to advise as shared memory: writable data of at least
 * 2 MiB that is not populated at once. */
bool okosu_maps_wants_shared(size_t length, int prot, int flags);

/* Whether a segment of System V is to be advised that is attached with these flags of shmat; its length
 * can be had from the kernel alone, which a filter may forbid. */
bool okosu_maps_wants_segment(int flags);

/* Advises the result of such a call where it is memory: anonymous, or of a file in tmpfs (memfd_create,
 * shm_open). */
void okosu_maps_shared(void *start, size_t length, int flags, int fd, long offset);

/* A new private anonymous mapping that begins at a multiple of OKOSU_CHUNK where that can be had:
 * its address or -errno. */
intptr_t okosu_maps_aligned(size_t length, int prot, int flags);

/* The program is about to unmap or to replace this range. */
void okosu_maps_forget(const void *start, size_t length);

/* The program is about to detach the segment that was attached there. */
void okosu_maps_detach(const void *start);

void okosu_maps_prefork(void);
void okosu_maps_postfork(void);
