/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this process may still take, read without allocating. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Reads at most SIZE-1 bytes of a small file and ends them with a NUL: the length or -errno. */
ssize_t okosu_avail_slurp(const char *file, char *out, size_t size);

/* The least of MemAvailable and of what each memory cgroup above this process leaves (limit less
 * usage, page cache that can be dropped not counted as usage). ROOT is put before every path.
 * One caller at a time: it works in static buffers.
 */
size_t okosu_avail_bytes(const char *root);
