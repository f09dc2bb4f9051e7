/* SPDX-License-Identifier: Apache-2.0 */
/* Anonymous mappings that the program makes itself, aligned to 2 MiB and advised.
 *
 * 1. The program sees exactly mmap's and munmap's results: length, protection, errno.
 *
 * 2. Advised memory is charged to the budget until one munmap covers the whole mapping; pieces that
 * are unmapped in other ways stay charged, so that at worst too little is advised. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether a call of mmap is one to improve: anonymous, private, writable, data, >= 2 MiB,
 * anywhere. */
bool okosu_maps_wants(const void *hint, size_t length, int prot, int flags, long offset);

/* mmap of such a call: the address or -errno (test with okosu_sys_failed). */
long okosu_maps_map(size_t length, int prot, int flags);

/* The program is about to unmap this range. */
void okosu_maps_forget(const void *start, size_t length);

void okosu_maps_prefork(void);
void okosu_maps_postfork(void);
