/* SPDX-License-Identifier: Apache-2.0 */
/* ring: huge pages that the kernel posts to be cleared (/dev/hugetlb_zero, the kernel series
 * hugetlb-prezero). They hold what their last owner left: serving it needs CAP_SYS_ADMIN. */
#ifndef ZEROD_RING_H
#define ZEROD_RING_H

#include <stddef.h>

struct zerod_ring;

/* Serve from now on, by a thread of lowest priority, so many pages at a time (a power of two, at
 * most 64). 0; or -errno, and it was said why. A device that ends sends this process SIGTERM. */
int zerod_ring_open(struct zerod_ring **ring, size_t slots);
/* The kernel has all pages back. 0; -EIO: the device ended first. NULL is allowed. */
int zerod_ring_close(struct zerod_ring *ring);
/* Where nothing else is served: return when `stop_fd` is readable. 0 or -errno. */
int zerod_ring_wait(int stop_fd);

#endif
