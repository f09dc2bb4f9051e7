/* SPDX-License-Identifier: Apache-2.0 */
/* Pin: which CPUs the program's threads take, and in which order; each of several MPI ranks takes
 * its own part. */
#include "lever.h"

#include "base/mpi.h"

#include <okosu/topo.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variables by which a user may already have placed OpenMP threads. */
static const char *const users_openmp[] = {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY",
                                           "KMP_AFFINITY"};

static const struct {
    const char *value;
    enum okosu_topo_order order;
} policies[] = {
    {"compact", OKOSU_TOPO_COMPACT},
    {"scatter", OKOSU_TOPO_SCATTER},
    {"one-per-core", OKOSU_TOPO_ONE_PER_CORE},
};

static const char *list(struct okosu_plan *plan, const struct okosu_cpuset *set)
{
    char text[4096];

    if (okosu_cpulist_format(set, text, sizeof(text)) < 0)
        return "(too many to list)";
    return okosu_arena_strndup(&plan->arena, text, strlen(text));
}

static struct okosu_cpuset set_of(const unsigned *cpus, size_t count)
{
    struct okosu_cpuset set = {0};

    for (size_t i = 0; i < count; i++)
        okosu_cpuset_add(&set, cpus[i]);
    return set;
}

static long order_list(struct okosu_plan *plan, const char *text,
                       const struct okosu_context *context, unsigned *cpus)
{
    long count = okosu_cpulist_parse(text, cpus, OKOSU_CPU_LIMIT);
    struct okosu_cpuset wanted, outside, inside;

    if (count < 0)
        return okosu_plan_refuse(plan, -EINVAL,
                                 "CPUS is a list such as 0-3,8 or 0-15:2 that names no CPU twice",
                                 "see okosu-run --help");
    wanted = set_of(cpus, (size_t)count);
    outside = okosu_cpuset_without(&wanted, &context->inherited);
    if (okosu_cpuset_count(&outside) == 0)
        return count;
    inside = okosu_cpuset_within(&wanted, &context->inherited);
    return okosu_plan_refuse(
        plan, -ENODEV,
        okosu_arena_printf(
            &plan->arena, "requested CPUs %s, but this process may use %s; outside: %s",
            list(plan, &wanted), list(plan, &context->inherited), list(plan, &outside)),
        okosu_cpuset_count(&inside)
            ? okosu_arena_printf(&plan->arena,
                                 "--pin=list:%s, or start from a wider mask (taskset, cpuset)",
                                 list(plan, &inside))
            : "choose among those it may use, or start from a wider mask (taskset, cpuset)");
}

static long order_policy(enum okosu_topo_order order, const struct okosu_context *context,
                         unsigned *cpus)
{
    size_t room = okosu_cpuset_count(&context->inherited);
    struct okosu_topo_cpu *places = calloc(room ? room : 1, sizeof(*places));
    long count = -ENOMEM;

    if (!places)
        return count;
    count = okosu_topo_read(context->root, &context->inherited, places);
    if (count > 0)
        count = okosu_topo_sort(places, (size_t)count, order);
    for (long i = 0; i < count; i++)
        cpus[i] = places[i].cpu;
    free(places);
    return count;
}

/* A mask narrower than the cgroup's was set by the MPI launcher for this rank, and dividing it
 * again would put all its threads on a part of it. But if `size` such masks need more CPUs than
 * there are, ranks share a mask, and each would begin on the same CPU. */
static int may_slice(struct okosu_plan *plan, const struct okosu_context *context,
                     const struct okosu_mpi *mpi, bool *slice)
{
    struct okosu_cpuset online, confined;
    size_t own = okosu_cpuset_count(&context->inherited), all;

    *slice = mpi->size > 1;
    if (!*slice || context->rebind || okosu_topo_online(context->root, &online))
        return 0;
    all = okosu_cpuset_count(&online);
    if (own >= all)
        return 0;
    *slice = false;
    if (okosu_topo_confined(context->root, &confined) == 0)
        all = okosu_cpuset_count(&confined);
    if (own * mpi->size > all)
        return okosu_plan_refuse(plan, -EBUSY,
                                 okosu_arena_printf(&plan->arena,
                                                    "the %u ranks here (%s) inherited a mask of "
                                                    "%zu CPUs out of %zu, so some share one and "
                                                    "would be pinned to the same CPUs",
                                                    mpi->size, mpi->source, own, all),
                                 "--rebind slices the inherited mask among the ranks, or have the "
                                 "MPI launcher bind each to its own CPUs");
    okosu_plan_note(
        plan, false, "the mask is not sliced again",
        okosu_arena_printf(&plan->arena,
                           "it is already narrower than the %zu CPUs here, so the MPI launcher "
                           "bound this rank (%s=%u of %u)",
                           all, mpi->source, mpi->rank, mpi->size),
        "--rebind slices it all the same");
    return 0;
}

/* Take this rank's part of the ordered list. */
static int slice_list(struct okosu_plan *plan, const struct okosu_context *context, unsigned *cpus,
                      size_t *count)
{
    struct okosu_mpi mpi;
    size_t first, last;
    bool slice;
    int rc;

    if (okosu_mpi_read(&plan->env, &mpi))
        return okosu_plan_refuse(plan, -ERANGE,
                                 okosu_arena_printf(&plan->arena,
                                                    "%s is %u, but there are only %u ranks here",
                                                    mpi.source, mpi.rank, mpi.size),
                                 "unset the variables that another MPI launcher left behind");
    rc = may_slice(plan, context, &mpi, &slice);
    if (rc || !slice)
        return rc;
    if (mpi.size > *count) {
        okosu_plan_note(
            plan, true,
            okosu_arena_printf(&plan->arena, "%u ranks share %zu CPUs", mpi.size, *count),
            okosu_arena_printf(&plan->arena,
                               "%s counts more ranks on this machine than pin has CPUs for",
                               mpi.source),
            "start fewer ranks here, or leave pin out");
        first = mpi.rank % *count;
        last = first + 1;
    } else {
        first = *count * mpi.rank / mpi.size;
        last = *count * (mpi.rank + 1) / mpi.size;
    }
    memmove(cpus, cpus + first, (last - first) * sizeof(*cpus));
    *count = last - first;
    return 0;
}

static int set_openmp(struct okosu_plan *plan, const char *places)
{
    for (size_t i = 0; i < sizeof(users_openmp) / sizeof(users_openmp[0]); i++) {
        if (!okosu_env_get(&plan->env, users_openmp[i]))
            continue;
        okosu_plan_note(plan, false, "OpenMP threads are placed as you asked",
                        okosu_arena_printf(&plan->arena, "%s is set already", users_openmp[i]),
                        "unset it");
        return 0;
    }
    return okosu_env_set(&plan->env, "OMP_PLACES", places) ||
                   okosu_env_set(&plan->env, "OMP_PROC_BIND", "true")
               ? -ENOMEM
               : 0;
}

static int fill_plan(struct okosu_plan *plan, const char *value,
                     const struct okosu_context *context, const unsigned *cpus, size_t count)
{
    /* room for "{8191}," and "8191," for each CPU */
    char *places = okosu_arena_alloc(&plan->arena, count * 7 + 1);
    char *order = okosu_arena_alloc(&plan->arena, count * 5 + 1);
    size_t places_at = 0, order_at = 0;

    if (!places || !order)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        places_at += (size_t)snprintf(places + places_at, 8, "%s{%u}", i ? "," : "", cpus[i]);
        order_at += (size_t)snprintf(order + order_at, 6, "%s%u", i ? "," : "", cpus[i]);
    }
    plan->affinity = set_of(cpus, count);
    plan->affinity_lever = okosu_arena_printf(&plan->arena, "pin=%s", value);
    if (!plan->affinity_lever || set_openmp(plan, places))
        return -ENOMEM;
    if (!context->program->preloadable) {
        /* A missing library is a fault of the installation; the other reasons lie in the
         * program. */
        okosu_plan_note(
            plan, context->missing != NULL, "pin sets the process mask and OpenMP's variables only",
            okosu_arena_printf(&plan->arena,
                               "single threads are pinned by the preload library, and %s",
                               context->program->why),
            context->missing ? context->missing : "none is needed if OpenMP makes the threads");
        return 0;
    }
    return okosu_plan_hook(plan, "OKOSU_PIN", order, true);
}

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    const char *text = okosu_lever_parameter(value, "list");
    unsigned *cpus;
    size_t used;
    long count = -EINVAL;
    int rc;

    if (!context->inherited_known)
        return okosu_plan_refuse(plan, -ENOTSUP,
                                 "sched_getaffinity does not tell which CPUs this process may use",
                                 "a seccomp filter that allows sched_getaffinity");
    cpus = okosu_arena_alloc(&plan->arena, OKOSU_CPU_LIMIT * sizeof(*cpus));
    if (!cpus)
        return -ENOMEM;
    if (text)
        count = order_list(plan, text, context, cpus);
    for (size_t i = 0; !text && i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (strcmp(policies[i].value, value) == 0)
            count = order_policy(policies[i].order, context, cpus);
    }
    if (count < 0)
        return (int)count;
    used = (size_t)count;
    rc = slice_list(plan, context, cpus, &used);
    return rc ? rc : fill_plan(plan, value, context, cpus, used);
}

static const struct okosu_value values[] = {
    {.value = "compact",
     .doc = "close together: both threads of a core, then the next core, cache, node, package",
     .preload = true},
    {.value = "scatter",
     .doc = "far apart: over packages, nodes, caches and cores first, second threads of cores last",
     .preload = true},
    {.value = "one-per-core",
     .doc = "one hardware thread of each core, close together",
     .preload = true},
    {.value = "list:CPUS", .doc = "these CPUs in this order, as in list:0-3,8", .preload = true},
    {0},
};

static const struct okosu_variable variables[] = {{.name = "OMP_PLACES", .users = true},
                                                  {.name = "OMP_PROC_BIND", .users = true},
                                                  {.name = "OKOSU_PIN"},
                                                  {0}};
static const char *const observes[] = {"threads", NULL};

const struct okosu_lever okosu_lever_pin = {
    .name = "pin",
    .doc = "keep each thread on one CPU; MPI ranks take a slice each",
    .default_value = "compact",
    .values = values,
    .variables = variables,
    .library = OKOSU_PRELOAD_LIBRARY,
    .serves = "threads", /* each that is made gets its CPU, and one that is started again has one */
    .observes = observes,
    .apply = apply,
};
