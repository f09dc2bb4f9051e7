/* SPDX-License-Identifier: Apache-2.0 */
/* reason: the text that a failed call of place gives besides its errno. */
#ifndef OKOSU_PLACE_REASON_H
#define OKOSU_PLACE_REASON_H

#include <okosu/cpulist.h>

/* Room for a list of CPUs in a sentence. */
#define PLACE_LIST 96

/* Set the thread's reason; returns rc (0 with a NULL format clears it). */
int okosu_place_fail(int rc, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Clear it, at the beginning of a call. */
void okosu_place_begin(void);
/* The set as a list, cut short with "..." where it is long. Returns text. */
const char *okosu_place_text(const struct okosu_cpuset *set, char text[PLACE_LIST]);
/* The reason for a failed system call about memory policies, where nothing more specific is known.
 * Returns -error. */
int okosu_place_refused(const char *call, int error);

#endif
