/* SPDX-License-Identifier: Apache-2.0 */
/* backing: a pool's memory as the kernel gives it: all system calls of the pool are here. */
#ifndef OKOSU_POOL_BACKING_H
#define OKOSU_POOL_BACKING_H

#include <stdbool.h>
#include <stddef.h>

/* Private anonymous address space at a multiple of `align`, nothing of it populated; huge pages of
 * the kernel's pool, or transparent ones where the kernel can. `node` is counted from 1; 0: any.
 * NULL: errno says why. */
void *okosu_backing_map(size_t bytes, size_t align, bool hugetlb, int node);
void okosu_backing_unmap(void *at, size_t bytes);
/* Have the pages of this range there, zeroed if they were not there. 0 or -errno. */
int okosu_backing_populate(void *at, size_t bytes);
/* The same by touching what is zero, where pages are always to be had (not hugetlb): a page fault
 * takes a lock of this mapping alone, the system call one that the program's own mmap and munmap
 * wait for, however long the thread that populates is put off. */
void okosu_backing_touch(void *at, size_t bytes);
bool okosu_backing_can_populate(void);
/* Hand the pages of this range back. 0 or -errno. */
int okosu_backing_drop(void *at, size_t bytes);
/* Map these addresses anew, whatever is there. 0 or -errno. */
int okosu_backing_renew(void *at, size_t bytes, bool hugetlb, int node);
/* Bytes of a page of the kernel's pool (its default size), and how many of them are free; 0:
 * none. */
size_t okosu_backing_hugetlb_page(size_t *free_pages);
/* A word that is `true` here, and `false` in every child of fork. NULL: errno says why. */
volatile bool *okosu_backing_mine(void);
void okosu_backing_drop_mine(volatile bool *mine);

#endif
