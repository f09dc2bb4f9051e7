/* SPDX-License-Identifier: Apache-2.0 */
/* routine: finds a row of a table by its name, and says why one cannot be used. */
#include "choose/routine.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void okosu_reason_say(char *text, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(text, size, format, args);
    va_end(args);
}

/* The names of the variants that run with these features. */
static void say_names(const struct okosu_variant *const *table, uint64_t features, char *text,
                      size_t size)
{
    size_t length = 0;

    for (; *table && length < size; table++)
        if (okosu_variant_runs(*table, features))
            length += (size_t)snprintf(text + length, size - length, "%s%s",
                                       length ? ", " : "one of ", (*table)->name);
}

int okosu_variant_named(const struct okosu_variant *const *table, uint64_t features,
                        const char *name, const struct okosu_variant **found,
                        struct okosu_reason *reason)
{
    if (reason)
        say_names(table, features, reason->fix, sizeof(reason->fix));
    for (; *table; table++) {
        if (strcmp((*table)->name, name) != 0)
            continue;
        if (!okosu_variant_runs(*table, features)) {
            OKOSU_SAY(reason, what, "%.64s cannot be used", name);
            OKOSU_SAY(reason, why, "this CPU or kernel lacks what it needs");
            return -ENOTSUP;
        }
        *found = *table;
        return 0;
    }
    OKOSU_SAY(reason, what, "%.64s is not a variant", name);
    OKOSU_SAY(reason, why, "this build has none of that name");
    return -ENOENT;
}
