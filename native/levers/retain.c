/* SPDX-License-Identifier: Apache-2.0 */
/* Retain: glibc maps and unmaps every block above its threshold anew, and each time the kernel
 * clears it again. */
#include "lever.h"

#include <limits.h>

/* mmap_max=0 makes large blocks come from the heap, trim_threshold keeps the heap's top when they
 * are freed. Tried on glibc 2.36 with 200 blocks of 4-64 MiB: 181,000 faults without, 27,000 with
 * (the first touch of what is live at once); top_pad made no difference. A quarter of the address
 * space is beyond any heap and below any sign bit. */
#if LONG_MAX > INT_MAX
#define NEVER_TRIM "4611686018427387904"
#else
#define NEVER_TRIM "1073741824"
#endif

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    int rc = okosu_plan_needs_tunables(plan, context);

    if (!rc)
        rc = okosu_plan_tunable(plan, "glibc.malloc.mmap_max", "0");
    if (!rc)
        rc = okosu_plan_tunable(plan, "glibc.malloc.trim_threshold", NEVER_TRIM);
    /* Where another lever loads the preload library, the library, too, has freed blocks to
     * retain. */
    return rc ? rc : okosu_plan_hook(plan, "OKOSU_RETAIN", "1", false);
}

static const struct okosu_value values[] = {
    {.value = "on", .doc = "large blocks stay in the heap, and the heap never shrinks"},
    {0},
};

static const struct okosu_variable variables[] = {
    {.name = "GLIBC_TUNABLES", .users = true}, {.name = "OKOSU_RETAIN"}, {0}};

const struct okosu_lever okosu_lever_retain = {
    .name = "retain",
    .doc = "keep freed memory instead of handing it back to the kernel, which would clear it again",
    .default_value = "on",
    .values = values,
    .variables = variables,
    .library = OKOSU_PRELOAD_LIBRARY,
    .serves = "blocks",
    .apply = apply,
};
