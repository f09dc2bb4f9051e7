/* SPDX-License-Identifier: Apache-2.0 */
/* backing: a pool's memory as the kernel gives it: all system calls of the pool are here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Private anonymous address space at a multiple of `align`, nothing of it populated; with huge
 * pages of the kernel's pool, or transparent ones where the kernel gives them. `node` is counted
 * from 1; 0: any. NULL: errno says why. */
void *okosu_backing_map(size_t bytes, size_t align, bool hugetlb, int node);
void okosu_backing_unmap(void *at, size_t bytes);
/* Bring the pages of this range into memory as okosu_pages_populate() does, by touching memory that
 * is zero, where pages can always be had (not hugetlb). A page fault takes a lock of this mapping
 * alone; the system call takes one for which the program's own mmap and munmap wait, as long as the
 * populating thread gets no CPU. */
void okosu_backing_touch(void *at, size_t bytes);
bool okosu_backing_can_populate(void);
/* Return the pages of this range to the kernel. 0 or -errno. */
int okosu_backing_drop(void *at, size_t bytes);
/* Map these addresses anew, whatever is mapped there. 0 or -errno. */
int okosu_backing_renew(void *at, size_t bytes, bool hugetlb, int node);
/* Bytes of a page of the kernel's pool (its default size), and how many of them are free; 0:
 * none. */
size_t okosu_backing_hugetlb_page(size_t *free_pages);
/* A word that is `true` in this process, and `false` in every child of fork. NULL: errno says
 * why. */
volatile bool *okosu_backing_mine(void);
void okosu_backing_drop_mine(volatile bool *mine);
