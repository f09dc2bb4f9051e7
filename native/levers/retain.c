/* SPDX-License-Identifier: Apache-2.0 */
/* Retain: glibc maps and unmaps every block above its threshold anew, and each time the kernel
 * clears it again. */
#include "lever.h"

#include <limits.h>

/* glibc raises its threshold when a mapped block is freed, by itself up to this. So a program may
 * find blocks below it in the heap without us, too. Larger blocks always have a mapping of their
 * own, and what a program does to it (pages of a file, PROT_NONE, a hole) ends with the block;
 * mmap_max=0 would put these, too, into the heap, which such a program then destroys. */
#if LONG_MAX > INT_MAX
#define HEAP_LIMIT "33554432"
#else
#define HEAP_LIMIT "524288"
#endif

/* The heap's top is kept when blocks at its end are freed. A quarter of the address space is beyond
 * any heap and below any sign bit. */
#if LONG_MAX > INT_MAX
#define NEVER_TRIM "4611686018427387904"
#else
#define NEVER_TRIM "1073741824"
#endif

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    int rc = okosu_plan_needs_tunables(plan, context);

    if (!rc)
        rc = okosu_plan_tunable(plan, "glibc.malloc.mmap_threshold", HEAP_LIMIT);
    if (!rc)
        rc = okosu_plan_tunable(plan, "glibc.malloc.trim_threshold", NEVER_TRIM);
    /* The library retains blocks of 2 MiB and more, and notices what the program does to them. */
    return rc ? rc : okosu_plan_hook(plan, "OKOSU_RETAIN", "1", context->program->preloadable);
}

static const struct okosu_value values[] = {
    {.value = "on",
     .doc = "freed blocks stay with the program; in a static one, those of less than 32 MiB",
     .preload = true},
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
