/* SPDX-License-Identifier: Apache-2.0 */
/* memory: files of clean pages, from the kernel. */
#ifndef ZEROD_MEMORY_H
#define ZEROD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* A sparse file of this size, whose size nobody can change. A descriptor or -errno. */
int zerod_memory_file(size_t bytes, bool hugetlb);
/* Map all of the file at a multiple of `align`, without populating it. NULL: errno says why. */
void *zerod_memory_map(int fd, size_t bytes, size_t align, int node);
void zerod_memory_unmap(void *at, size_t bytes);
/* Bring the pages into memory; those that were not there are zeroed. 0 or -errno. */
int zerod_memory_populate(void *at, size_t bytes);
/* Return pages to the kernel, even if other processes have them mapped. 0 or -errno. */
int zerod_memory_drop(int fd, size_t offset, size_t bytes);

#endif
