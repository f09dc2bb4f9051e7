/* SPDX-License-Identifier: Apache-2.0 */
/* Copy: memcpy, memmove and memset by okosu's routines, because libc chooses among its own by the
 * vendor's thresholds, which can be wrong for the machine at hand. */
#include "lever.h"

#include <okosu/copy.h>
#include <okosu/cpu.h>
#include <okosu/zero.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libokosu-copy.so"

static int load(struct okosu_plan *plan, const struct okosu_context *context)
{
    int rc = okosu_plan_needs_preload(plan, context, "build it as a dynamic glibc program");

    return rc ? rc : okosu_plan_beside(plan, context, LIBRARY);
}

static int lacks(struct okosu_plan *plan, const char *name)
{
    return okosu_plan_refuse(
        plan, -ENOTSUP,
        okosu_arena_printf(&plan->arena, "this processor or kernel lacks what %s needs", name),
        "--copy=auto");
}

static int apply_variant(struct okosu_plan *plan, const char *name,
                         const struct okosu_context *context)
{
    const struct okosu_copy_variant *const *copy = okosu_copy_table();
    const struct okosu_zero_variant *const *zero = okosu_zero_table();
    uint64_t features = okosu_cpu_features();
    int rc;

    while (*copy && strcmp((*copy)->about.name, name))
        copy++;
    if (!*copy)
        return okosu_plan_refuse(plan, -EINVAL, "no routine has that name",
                                 "okosu bench copy --list names them");
    if ((*copy)->about.needs & ~features)
        return lacks(plan, name);
    rc = load(plan, context);
    if (!rc)
        rc = okosu_plan_hook(plan, "OKOSU_COPY", name, true);
    while (*zero && strcmp((*zero)->about.name, name))
        zero++;
    /* Routines that set memory have different names where they use a different instruction. */
    if (!rc && *zero && !((*zero)->about.needs & ~features))
        rc = okosu_plan_hook(plan, "OKOSU_ZERO", name, true);
    return rc;
}

/* Where `okosu bench AREA --profile` keeps what it learned on a processor of this make: the path, or
 * NULL where there is none. okosu/bench/profile.py writes it. */
static const char *learned(struct okosu_plan *plan, const char *area)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char model[64];
    const char *path = NULL;

    okosu_cpu_model(model, sizeof(model));
    if (state && *state == '/')
        path = okosu_arena_printf(&plan->arena, "%s/okosu/profiles/%s-%s", state, area, model);
    else if (home && *home == '/')
        path = okosu_arena_printf(&plan->arena, "%s/.local/state/okosu/profiles/%s-%s", home, area,
                                  model);
    return path && access(path, R_OK) == 0 ? path : NULL;
}

static int refuse_profile(struct okosu_plan *plan, int rc, const struct okosu_reason *reason)
{
    return okosu_plan_refuse(plan, rc == -EINVAL ? -EBADMSG : rc,
                             okosu_arena_printf(&plan->arena, "%s: %s", reason->what, reason->why),
                             okosu_arena_printf(&plan->arena, "%s", reason->fix));
}

/* Of memcpy and memset, whichever was learned. */
static int apply_learned(struct okosu_plan *plan, const struct okosu_context *context)
{
    const char *copy = learned(plan, "copy"), *zero = learned(plan, "zero");
    struct okosu_reason reason;
    int rc;

    if (!copy && !zero)
        return okosu_plan_refuse(plan, -ENOENT, "nothing was learned on this processor",
                                 "okosu bench copy --profile");
    rc = copy ? okosu_copy_profile_explained(copy, &reason) : 0;
    if (!rc && zero)
        rc = okosu_zero_profile_explained(zero, &reason);
    if (rc)
        return refuse_profile(plan, rc, &reason);
    rc = load(plan, context);
    if (!rc && copy)
        rc = okosu_plan_hook(plan, "OKOSU_COPY_PROFILE", copy, true);
    if (!rc && zero)
        rc = okosu_plan_hook(plan, "OKOSU_ZERO_PROFILE", zero, true);
    return rc;
}

/* The program may change its directory before the library reads the file. */
static int apply_profile(struct okosu_plan *plan, const char *file,
                         const struct okosu_context *context)
{
    struct okosu_reason reason;
    char *path, *full;
    int rc = okosu_copy_profile_explained(file, &reason);

    if (rc)
        return refuse_profile(plan, rc, &reason);
    full = realpath(file, NULL);
    path = full ? okosu_arena_printf(&plan->arena, "%s", full) : NULL;
    free(full);
    if (!path)
        return -ENOMEM;
    rc = load(plan, context);
    if (!rc)
        rc = okosu_plan_hook(plan, "OKOSU_COPY_PROFILE", path, true);
    /* As with a variant: where each of the profile's routines can also set memory, the profile is
     * used for memset too. */
    if (!rc && okosu_zero_profile(file) == 0)
        rc = okosu_plan_hook(plan, "OKOSU_ZERO_PROFILE", path, true);
    return rc;
}

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    const char *name = okosu_lever_parameter(value, "variant");
    const char *file = okosu_lever_parameter(value, "profile");

    if (name)
        return apply_variant(plan, name, context);
    if (file)
        return apply_profile(plan, file, context);
    if (!strcmp(value, "profile"))
        return apply_learned(plan, context);
    if (!strcmp(value, "libc")) {
        int rc = load(plan, context);

        return rc ? rc : okosu_plan_hook(plan, "OKOSU_COPY_LIBC", "1", true);
    }
    if (strcmp(value, "auto"))
        return okosu_plan_refuse(plan, -EINVAL, "there is no such choice", "see okosu-run --help");
    return load(plan, context);
}

static const struct okosu_value values[] = {
    {.value = "auto",
     .doc = "a routine for each size, by CPU features and cache sizes",
     .preload = true},
    {.value = "variant:NAME",
     .doc = "one routine for all sizes but the shortest (okosu/copy.h)",
     .preload = true},
    {.value = "profile",
     .doc = "as okosu bench learned it on this processor, for copy and zero",
     .preload = true},
    {.value = "profile:FILE", .doc = "as a file that okosu bench wrote says", .preload = true},
    {.value = "libc",
     .doc = "libc's own, counted and timed: the most that this lever could save",
     .preload = true},
    {0},
};

/* libokosu's own variables, which a user may set for any program that uses the library. */
static const struct okosu_variable variables[] = {{.name = "OKOSU_COPY", .users = true},
                                                  {.name = "OKOSU_ZERO", .users = true},
                                                  {.name = "OKOSU_COPY_PROFILE", .users = true},
                                                  {.name = "OKOSU_ZERO_PROFILE", .users = true},
                                                  {.name = "OKOSU_COPY_LIBC"},
                                                  {0}};

const struct okosu_lever okosu_lever_copy = {
    .name = "copy",
    .doc = "memcpy, memmove and memset by okosu's routines instead of libc's",
    .default_value = "auto",
    .values = values,
    .variables = variables,
    .library = LIBRARY,
    .apply = apply,
};
