/* SPDX-License-Identifier: Apache-2.0 */
/* memory: files of clean pages, from the kernel. */
#pragma once

#include "base/pages.h"

#include <stdbool.h>
#include <stddef.h>

/* A sparse file of this size, whose size nobody can change. A descriptor or -errno. */
int zerod_memory_file(size_t bytes, bool hugetlb);
/* A second descriptor of such a file, for another process. Or -errno. */
int zerod_memory_share(int fd);
/* Whether every descriptor that was shared is closed, and what was mapped through it is unmapped,
 * in all processes. */
bool zerod_memory_is_alone(int fd);
/* Address space without memory at a multiple of `align`. NULL: errno says why. */
void *zerod_memory_reserve(size_t bytes, size_t align);
/* Map all of the file over reserved address space, without populating it. 0 or -errno. */
int zerod_memory_place(void *at, int fd, size_t bytes, int node);
/* Make it reserved address space again. 0 or -errno. */
int zerod_memory_displace(void *at, size_t bytes);
/* Reserve, and map the file there. NULL: errno says why. */
void *zerod_memory_map(int fd, size_t bytes, size_t align, int node);
void zerod_memory_unmap(void *at, size_t bytes);
