/* SPDX-License-Identifier: Apache-2.0 */
/* reason: the text that a failed call of place gives besides its errno, and the facts that explain
 * a failure. */
#ifndef OKOSU_PLACE_REASON_H
#define OKOSU_PLACE_REASON_H

#include <okosu/cpulist.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for a list of CPUs in a sentence. */
#define PLACE_LIST 96

/* Set the thread's reason; returns rc (0 with a NULL format clears it). */
int okosu_place_fail(int rc, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Clear it, at the beginning of a call. */
void okosu_place_begin(void);
/* A seccomp filter is in force in this process. */
bool okosu_place_filtered(void);
/* There are NUMA nodes below root. */
bool okosu_place_numa(const char *root);
/* The set as a list, cut short with "..." where it is long. Returns text. */
const char *okosu_place_text(const struct okosu_cpuset *set, char text[PLACE_LIST]);
/* The reason for a failed system call about memory policies, where nothing more specific is known.
 * Returns -error. */
int okosu_place_refused(const char *call, int error);

/* A list file below root/sys/devices/system/node as a set. 0 or -errno. */
int okosu_place_nodes(const char *root, const char *file, struct okosu_cpuset *nodes);
/* A list line of root/proc/self/status as a set. 0 or -errno. */
int okosu_place_status(const char *root, const char *key, struct okosu_cpuset *set);
/* The nodes that can be bound to: with memory, and allowed. 0 or -errno. */
int okosu_place_usable(const char *root, struct okosu_cpuset *nodes);
/* A node's memory in bytes, 0 where it is not told. */
void okosu_place_sizes(const char *root, unsigned node, uint64_t *total, uint64_t *avail);

#endif
