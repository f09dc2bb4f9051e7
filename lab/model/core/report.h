/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#ifndef OKOSU_MODEL_REPORT_H
#define OKOSU_MODEL_REPORT_H

#include "model.h"

/* Write the counts of one CPU as a line of JSON:
 * {"what": region, outside or unfinished, "label": N, "cpu": N, "broken": N, "user": {counts},
 *  "kernel": {counts}}, the counts by the names in struct counts, and the lists as long as the
 * model has levels, one more for memory or a walk. `walks` is by page size, 4 KiB first. */
void report_counts(const struct model *model, const char *what, uint32_t cpu);

#endif
