/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: start routines are given to parked threads, because making and ending a thread costs the
 * kernel more than many routines take. */
#include "lever.h"

#include <errno.h>
#include <string.h>

#define LIBRARY "libokosu-threads.so"
#define LEAST_GLIBC 235 /* it registers restartable sequences, so that no library does */

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    int rc;

    if (strcmp(value, "on"))
        return okosu_plan_refuse(plan, -EINVAL, "there is no such choice", "see okosu-run --help");
#ifndef __x86_64__
    return okosu_plan_refuse(plan, -ENOTSUP, "only the state of x86-64 threads is known",
                             "leave it out");
#endif
    rc = okosu_plan_needs_preload(plan, context, "build it as a dynamic glibc program");
    if (!rc && context->program->glibc && context->program->glibc < LEAST_GLIBC)
        return okosu_plan_refuse(plan, -ENOTSUP, "it takes glibc 2.35 or later", "a newer system");
    return rc ? rc : okosu_plan_beside(plan, context, LIBRARY);
}

static const struct okosu_value values[] = {
    {.value = "on",
     .doc = "threads of default attributes that have finished wait for the next start routine",
     .preload = true},
    {0},
};

const struct okosu_lever okosu_lever_threads = {
    .name = "threads",
    .doc = "pthread_create by threads that are kept, instead of new ones",
    .default_value = "on",
    .values = values,
    .library = LIBRARY,
    .serves = "threads",
    .apply = apply,
};
