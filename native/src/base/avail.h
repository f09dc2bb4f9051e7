/* SPDX-License-Identifier: Apache-2.0 */
/* Avail: how much memory this process may still take, read without allocating. */
#pragma once

#include <stddef.h>

/* Bytes: the least of MemAvailable and of what each memory cgroup above this process leaves (limit
 * less usage, page cache that can be dropped not counted as usage). `root` is put before every
 * path ("" is the machine's). One caller at a time: it works in static buffers. */
size_t okosu_avail_bytes(const char *root);
