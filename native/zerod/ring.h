/* SPDX-License-Identifier: Apache-2.0 */
/* ring: huge pages that the kernel passes to the daemon to be cleared (/dev/hugetlb_zero, the
 * kernel series hugetlb-prezero). They still hold the data of their last owner, so serving them
 * needs CAP_SYS_ADMIN. */
#pragma once

#include <stddef.h>

struct zerod_ring;

/* Serve from now on, with a thread of lowest priority, `slots` pages at a time (a power of two, at
 * most 64). 0; or -errno, and the error has been printed. When the device ends, this process gets
 * SIGTERM. */
int zerod_ring_open(struct zerod_ring **ring, size_t slots);
/* Give all pages back to the kernel. 0; -EIO: the device ended first. NULL is allowed. */
int zerod_ring_close(struct zerod_ring *ring);
/* For a daemon that serves only the ring: return when `stop_fd` is readable. 0 or -errno. */
int zerod_ring_wait(int stop_fd);
