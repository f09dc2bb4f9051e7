/* SPDX-License-Identifier: Apache-2.0 */
/* routine: the rows of an area's table (copy, zero, vec), and how one is found by its name. */
#pragma once

#include <okosu/cpu.h>
#include <okosu/variant.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins the definition of a row in a file of AREA/routines. The build finds the lines that begin
 * with it and makes the area's table of them, in rising order of RANK (choose/table.sh). */
#define OKOSU_ROUTINE(area, rank, name)                                                            \
    const struct okosu_##area##_variant okosu_##area##_row_##name

static inline bool okosu_variant_runs(const struct okosu_variant *variant, uint64_t features)
{
    return !(variant->needs & ~features);
}

/* Finds the variant of this name in a NULL-ended table. 0; -ENOENT: there is none; -ENOTSUP: the
 * features lack what it needs. `reason` may be NULL. Allocates nothing. */
int okosu_variant_named(const struct okosu_variant *const *table, uint64_t features,
                        const char *name, const struct okosu_variant **found,
                        struct okosu_reason *reason);

/* Fills one part of `reason`, which may be NULL: OKOSU_SAY(reason, why, "%s", text). */
#define OKOSU_SAY(reason, part, ...)                                                               \
    do {                                                                                           \
        if (reason)                                                                                \
            okosu_reason_say((reason)->part, sizeof((reason)->part), __VA_ARGS__);                 \
    } while (0)
void okosu_reason_say(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
