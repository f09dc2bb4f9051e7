/* SPDX-License-Identifier: Apache-2.0 */
/* Superpage: several ways to huge pages. Each one refuses with its own reason, so that the next can
 * be tried. */
#include "lever.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_THP "a kernel with CONFIG_TRANSPARENT_HUGEPAGE, or --superpage=hugetlb"

static int needs_hugetlb_tunable(struct okosu_plan *plan, const struct okosu_context *context)
{
    const struct okosu_program *program = context->program;
    int rc = okosu_plan_needs_tunables(plan, context);

    if (rc || program->hugetlb_tunable)
        return rc;
    if (program->glibc)
        return okosu_plan_refuse(
            plan, -ENOTSUP,
            okosu_arena_printf(&plan->arena,
                               "glibc.malloc.hugetlb needs glibc 2.35 or later; this is %u.%02u",
                               program->glibc / 100, program->glibc % 100),
            "--superpage=thp, which needs no tunable");
    return okosu_plan_refuse(plan, -ENOTSUP,
                             "the glibc linked into it is older than 2.35: no glibc.malloc.hugetlb",
                             "link it anew, or --superpage=collapse");
}

static int apply_glibc(struct okosu_plan *plan, const struct okosu_context *context)
{
    int rc = okosu_plan_needs_thp(plan, context, NO_THP);

    if (!rc)
        rc = needs_hugetlb_tunable(plan, context);
    return rc ? rc : okosu_plan_huge_heap(plan, context);
}

static int apply_advised(struct okosu_plan *plan, const struct okosu_context *context,
                         const char *which)
{
    int rc = okosu_plan_needs_thp(plan, context, NO_THP);

    if (!rc)
        rc = okosu_plan_needs_preload(
            plan, context,
            context->program->kind == OKOSU_KIND_STATIC_GLIBC
                ? "--superpage=glibc, or --superpage=collapse with CAP_SYS_NICE"
                : "--superpage=collapse, which needs CAP_SYS_NICE only");
    /* The preload library serves large blocks; the tunable covers the heap of the small ones. */
    if (!rc && context->program->hugetlb_tunable)
        rc = okosu_plan_huge_heap(plan, context);
    return rc ? rc : okosu_plan_hook(plan, "OKOSU_SUPERPAGE", which, true);
}

static int apply_thp(struct okosu_plan *plan, const struct okosu_context *context)
{
    return apply_advised(plan, context, "thp");
}

static int apply_small(struct okosu_plan *plan, const struct okosu_context *context)
{
    return apply_advised(plan, context, "small");
}

/* The kernel's setting for whole huge pages of shared memory; NULL where it has none. */
static const char *shared_setting(const struct okosu_context *context, char *text, size_t size)
{
    static const char *const files[] = {
        "/sys/kernel/mm/transparent_hugepage/hugepages-2048kB/shmem_enabled",
        "/sys/kernel/mm/transparent_hugepage/shmem_enabled"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char *first, *last;

        if (okosu_file_read(text, size, context->root, files[i]) < 0 ||
            !(first = strchr(text, '[')) || !(last = strchr(first, ']')))
            continue;
        *last = '\0';
        if (strcmp(first + 1, "inherit") != 0)
            return first + 1;
    }
    return NULL;
}

static int apply_shared(struct okosu_plan *plan, const struct okosu_context *context)
{
    char text[128];
    const char *setting = shared_setting(context, text, sizeof(text));

    if (!setting)
        return okosu_plan_refuse(plan, -ENOSYS, "this kernel has no huge pages for shared memory",
                                 "--superpage=small, which needs none");
    if (strcmp(setting, "never") == 0 || strcmp(setting, "deny") == 0)
        return okosu_plan_refuse(
            plan, -EPERM,
            okosu_arena_printf(&plan->arena,
                               "huge pages for shared memory are switched off: shmem_enabled is %s",
                               setting),
            "echo advise | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled");
    return apply_advised(plan, context, "shared");
}

static int apply_hugetlb(struct okosu_plan *plan, const struct okosu_context *context)
{
    char text[64];
    int rc = okosu_plan_needs_preload(plan, context,
                                      "--superpage=collapse, which needs CAP_SYS_NICE only");

    if (rc)
        return rc;
    /* A fork shares hugetlb pages copy-on-write; the copy may find the pool empty, which raises
     * SIGBUS. */
    if (!context->no_fork)
        return okosu_plan_refuse(plan, -EPERM,
                                 "a program that forks may be killed when the pool runs out",
                                 "add --no-fork if the program does not fork, or --superpage=thp");
    if (okosu_file_read(text, sizeof(text), context->root,
                        "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") < 0)
        return okosu_plan_refuse(plan, -ENOSYS, "this kernel has no pool of 2 MiB pages",
                                 "--superpage=thp");
    if (strtoul(text, NULL, 10) == 0)
        return okosu_plan_refuse(
            plan, -ENOSPC, "the pool of 2 MiB pages has none free",
            "sudo sysctl vm.nr_hugepages=N, N being the 2 MiB pages that the program uses");
    return okosu_plan_hook(plan, "OKOSU_SUPERPAGE", "hugetlb", true);
}

static int needs_collapse(struct okosu_plan *plan, const struct okosu_context *context)
{
    unsigned major, minor;
    char release[256];

    if (okosu_file_read(release, sizeof(release), context->root, "/proc/sys/kernel/osrelease") <
            0 ||
        sscanf(release, "%u.%u", &major, &minor) != 2 || major > 6 || (major == 6 && minor >= 1))
        return 0;
    return okosu_plan_refuse(
        plan, -ENOSYS,
        okosu_arena_printf(&plan->arena, "MADV_COLLAPSE came with Linux 6.1; this is %s", release),
        "a newer kernel");
}

static int apply_collapse(struct okosu_plan *plan, const struct okosu_context *context)
{
    int rc = okosu_plan_needs_thp(plan, context, NO_THP);

    if (!rc)
        rc = needs_collapse(plan, context);

    if (rc)
        return rc;
    if (!context->may_collapse)
        return okosu_plan_refuse(
            plan, -EPERM, "process_madvise on another process needs CAP_SYS_NICE",
            okosu_arena_printf(&plan->arena, "sudo setcap cap_sys_nice+ep %s", context->self));
    if (context->adopts)
        return okosu_plan_refuse(
            plan, -ECHILD,
            "this process is an init or a child subreaper, so the program would see the helper "
            "as a child of its own",
            "start it from a shell, or the container with an init (docker run --init)");
    if (context->program->setuid)
        return okosu_plan_refuse(
            plan, -EPERM, "a program that gains privileges cannot be advised from outside",
            "run a copy of it without the set-user-ID bit and file capabilities");
    plan->helper_lever = "superpage=collapse";
    return 0;
}

static const struct {
    const char *value;
    int (*apply)(struct okosu_plan *plan, const struct okosu_context *context);
} tiers[] = {
    {"glibc", apply_glibc},   {"thp", apply_thp},         {"small", apply_small},
    {"shared", apply_shared}, {"hugetlb", apply_hugetlb}, {"collapse", apply_collapse},
};

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++) {
        if (strcmp(tiers[i].value, value) == 0)
            return tiers[i].apply(plan, context);
    }
    return okosu_plan_refuse(plan, -EINVAL, "there is no such tier", "see okosu-run --help");
}

static const struct okosu_value values[] = {
    {.value = "glibc",
     .doc = "glibc's own heap on huge pages, by a tunable; also in static programs"},
    {.value = "thp",
     .doc = "large blocks and mappings on aligned, advised huge pages, by the preload library",
     .preload = true},
    {.value = "small",
     .doc = "the same, and mappings of 64 KiB to 2 MiB (an interpreter's arenas) cut from advised "
            "regions",
     .preload = true},
    {.value = "shared",
     .doc = "the same, and shared memory of 2 MiB and more (anonymous, memfd_create, shm_open) "
            "advised, where the kernel has huge pages for it",
     .preload = true},
    {.value = "hugetlb",
     .doc = "as thp, from the reserved pool; needs --no-fork and free pages in the pool",
     .preload = true,
     .no_fork = true},
    {.value = "collapse",
     .doc = "for programs that cannot be preloaded: a helper collapses their memory; needs "
            "CAP_SYS_NICE"},
    {0},
};

static const struct okosu_variable variables[] = {
    {.name = "GLIBC_TUNABLES", .users = true}, {.name = "OKOSU_SUPERPAGE"}, {0}};

const struct okosu_lever okosu_lever_superpage = {
    .name = "superpage",
    .doc = "2 MiB pages for the program's memory",
    .default_value = "thp",
    .values = values,
    .variables = variables,
    .library = OKOSU_PRELOAD_LIBRARY,
    .serves = "blocks",
    .apply = apply,
};
