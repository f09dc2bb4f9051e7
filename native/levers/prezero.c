/* SPDX-License-Identifier: Apache-2.0 */
/* Prezero: large blocks from a pool that a thread of lowest priority keeps populated and clean.
 * Without it, each page of a fresh block costs the program a page fault and a clearing. */
#include "lever.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libokosu-prezero.so"

/* The path is made absolute, because the program may change its directory before the library
 * connects. */
static int hook_broker(struct okosu_plan *plan, const char *socket,
                       const struct okosu_context *context)
{
    char *full = realpath(socket, NULL);
    char *path = full ? okosu_arena_printf(&plan->arena, "%s", full) : NULL;

    free(full);
    if (!full)
        return okosu_plan_refuse(
            plan, -ENOENT, "no daemon serves that socket",
            okosu_arena_printf(&plan->arena, "okosu-zerod --socket=%s &", socket));
    if (!context->no_fork)
        return okosu_plan_refuse(
            plan, -EPERM,
            "the daemon's pages are shared memory, which a child of fork would not have",
            "add --no-fork if the program does not fork, or --prezero");
    return path ? okosu_plan_hook(plan, "OKOSU_ZERO_BROKER", path, true) : -ENOMEM;
}

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    const char *broker = okosu_lever_parameter(value, "broker");
    int rc;

    if (!broker && strcmp(value, "on"))
        return okosu_plan_refuse(plan, -EINVAL, "there is no such choice", "see okosu-run --help");
    rc = okosu_plan_needs_preload(plan, context, "build it as a dynamic glibc program");
    if (!rc && broker)
        rc = hook_broker(plan, broker, context);
    return rc ? rc : okosu_plan_beside(plan, context, LIBRARY);
}

static const struct okosu_value values[] = {
    {.value = "on",
     .doc = "blocks of 2 MiB and more: malloc's as they were given back, calloc's and mmap's clean",
     .preload = true},
    {.value = "broker:SOCKET",
     .doc = "the same from the pool of an okosu-zerod, where pages stay clean; --no-fork",
     .preload = true,
     .no_fork = true},
    {0},
};

static const struct okosu_variable variables[] = {{.name = "OKOSU_ZERO_BROKER"}, {0}};

const struct okosu_lever okosu_lever_prezero = {
    .name = "prezero",
    .doc = "large blocks without page faults, cleared ahead on a CPU that idles",
    .default_value = "on",
    .values = values,
    .variables = variables,
    .library = LIBRARY,
    .serves = "blocks",
    .apply = apply,
};
