/* SPDX-License-Identifier: Apache-2.0 */
/* memory: files of clean pages, as the kernel gives them. */
#ifndef ZEROD_MEMORY_H
#define ZEROD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* A sparse file of this size, whose size nobody can change. A descriptor or -errno. */
int zerod_memory_file(size_t bytes, bool hugetlb);
/* All of it at a multiple of `align`, nothing populated. NULL: errno says why. */
void *zerod_memory_map(int fd, size_t bytes, size_t align, int node);
void zerod_memory_unmap(void *at, size_t bytes);
/* Have the pages there; what was not there is zero. 0 or -errno. */
int zerod_memory_populate(void *at, size_t bytes);
/* Hand pages back to the kernel, whoever has them mapped. 0 or -errno. */
int zerod_memory_drop(int fd, size_t offset, size_t bytes);

#endif
