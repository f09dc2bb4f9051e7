/* SPDX-License-Identifier: Apache-2.0 */
/* Plan: what the levers have in common: looking up rows, refusals, notes, tunables and
 * what programs need. */
#include "lever.h"

#include "base/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

const struct okosu_lever *okosu_lever_find(const char *name)
{
    for (size_t i = 0; okosu_lever_table[i]; i++) {
        if (strcmp(okosu_lever_table[i]->name, name) == 0)
            return okosu_lever_table[i];
    }
    return NULL;
}

const char *okosu_lever_parameter(const char *value, const char *word)
{
    size_t length = strlen(word);

    return strncmp(value, word, length) == 0 && value[length] == ':' ? value + length + 1 : NULL;
}

bool okosu_lever_accepts(const struct okosu_lever *lever, const char *value)
{
    for (const struct okosu_value *row = lever->values; row->value; row++) {
        const char *colon = strchr(row->value, ':');
        size_t length = colon ? (size_t)(colon - row->value) + 1 : 0;

        if (colon ? strncmp(row->value, value, length) == 0 : strcmp(row->value, value) == 0)
            return true;
    }
    return false;
}

bool okosu_lever_excludes(const struct okosu_lever *lever, const struct okosu_lever *other)
{
    return lever->serves && other->serves && strcmp(lever->serves, other->serves) == 0 &&
           strcmp(lever->library, other->library) != 0;
}

int okosu_plan_refuse(struct okosu_plan *plan, int rc, const char *why, const char *fix)
{
    if (!why || !fix)
        return -ENOMEM;
    plan->refusal = (struct okosu_refusal){.why = why, .fix = fix};
    return rc;
}

void okosu_plan_note(struct okosu_plan *plan, bool always, const char *what, const char *why,
                     const char *fix)
{
    if (what && plan->note_count < OKOSU_PLAN_NOTES)
        plan->notes[plan->note_count++] = (struct okosu_note){always, what, why, fix};
}

int okosu_plan_tunable(struct okosu_plan *plan, const char *name, const char *value)
{
    for (size_t i = 0; i < plan->tunable_count; i++) {
        if (strcmp(plan->tunables[i].name, name) == 0)
            return 0;
    }
    if (plan->tunable_count == OKOSU_PLAN_TUNABLES)
        return -ENOMEM;
    plan->tunables[plan->tunable_count++] = (struct okosu_setting){name, value};
    return 0;
}

int okosu_plan_hook(struct okosu_plan *plan, const char *name, const char *value, bool load)
{
    if (plan->hook_count == OKOSU_PLAN_HOOKS)
        return -ENOMEM;
    plan->hooks[plan->hook_count++] = (struct okosu_setting){name, value};
    plan->preload |= load;
    return 0;
}

/* The path of a file in the preload library's folder; NULL: no memory. */
static const char *beside(struct okosu_plan *plan, const struct okosu_context *context,
                          const char *name)
{
    const char *slash = strrchr(context->library, '/');

    return okosu_arena_printf(&plan->arena, "%.*s/%s", (int)(slash ? slash - context->library : 0),
                              context->library, name);
}

int okosu_plan_huge_heap(struct okosu_plan *plan, const struct okosu_context *context)
{
    int rc = okosu_plan_tunable(plan, "glibc.malloc.hugetlb", "1");
    const char *path;

    /* Without it the tunable works too, only not always. */
    if (rc || !context->library)
        return rc;
    path = beside(plan, context, OKOSU_PRIME_LIBRARY);
    if (!path)
        return -ENOMEM;
    if (access(path, R_OK) == 0)
        plan->prime = path;
    return 0;
}

int okosu_plan_beside(struct okosu_plan *plan, const struct okosu_context *context,
                      const char *name)
{
    const char *path = beside(plan, context, name);

    if (!path || plan->beside_count == OKOSU_PLAN_BESIDE)
        return -ENOMEM;
    if (access(path, R_OK))
        return okosu_plan_refuse(
            plan, -ENOENT,
            okosu_arena_printf(&plan->arena, "%s is not beside " OKOSU_PRELOAD_LIBRARY, name),
            "install okosu whole, or make build");
    plan->beside[plan->beside_count++] = path;
    plan->preload = true;
    return 0;
}

/* The user's value of a tunable in "name=value:name=value", NULL if it is not among them. */
static const char *users_value(struct okosu_arena *arena, const char *tunables, const char *name)
{
    size_t length = strlen(name);

    while (tunables && *tunables) {
        if (strncmp(tunables, name, length) == 0 && tunables[length] == '=')
            return okosu_arena_strndup(arena, tunables + length + 1,
                                       strcspn(tunables + length + 1, ":"));
        tunables = strchr(tunables, ':');
        tunables = tunables ? tunables + 1 : NULL;
    }
    return NULL;
}

int okosu_plan_compose_tunables(struct okosu_plan *plan)
{
    const char *users = okosu_env_get(&plan->env, "GLIBC_TUNABLES");
    const char *added = NULL, *all;

    for (size_t i = 0; i < plan->tunable_count; i++) {
        const struct okosu_setting *ours = &plan->tunables[i];
        const char *theirs = users_value(&plan->arena, users, ours->name);

        if (theirs && strcmp(theirs, ours->value) != 0)
            okosu_plan_note(
                plan, true, okosu_arena_printf(&plan->arena, "%s stays at %s", ours->name, theirs),
                "GLIBC_TUNABLES already sets it, and your own setting wins",
                okosu_arena_printf(&plan->arena, "take it out of GLIBC_TUNABLES to have %s",
                                   ours->value));
        if (theirs)
            continue;
        added = okosu_arena_printf(&plan->arena, "%s%s%s=%s", added ? added : "", added ? ":" : "",
                                   ours->name, ours->value);
        if (!added)
            return -ENOMEM;
    }
    plan->added_tunables = added;
    if (!added || !users || !*users)
        return added ? okosu_env_set(&plan->env, "GLIBC_TUNABLES", added) : 0;
    all = okosu_arena_printf(&plan->arena, "%s:%s", users, added);
    return all ? okosu_env_set(&plan->env, "GLIBC_TUNABLES", all) : -ENOMEM;
}

int okosu_plan_needs_tunables(struct okosu_plan *plan, const struct okosu_context *context)
{
    const struct okosu_program *program = context->program;

    if (program->setuid)
        return okosu_plan_refuse(
            plan, -EPERM,
            okosu_arena_printf(&plan->arena,
                               "%s gains privileges when it starts, and glibc then ignores "
                               "GLIBC_TUNABLES",
                               program->image),
            "run a copy of it without the set-user-ID bit and file capabilities");
    if (program->kind != OKOSU_KIND_GLIBC && program->kind != OKOSU_KIND_STATIC_GLIBC)
        return okosu_plan_refuse(plan, -ENOTSUP,
                                 okosu_arena_printf(&plan->arena,
                                                    "%s does not use glibc's malloc: %s",
                                                    program->image, program->why),
                                 "build it against glibc");
    return 0;
}

int okosu_plan_needs_preload(struct okosu_plan *plan, const struct okosu_context *context,
                             const char *fix)
{
    if (context->program->preloadable)
        return 0;
    if (context->missing)
        return okosu_plan_refuse(plan, -ENOENT, context->program->why, context->missing);
    return okosu_plan_refuse(plan, -ENOTSUP,
                             okosu_arena_printf(&plan->arena,
                                                "the preload library cannot be loaded into %s: %s",
                                                context->program->image, context->program->why),
                             fix);
}

int okosu_plan_needs_thp(struct okosu_plan *plan, const struct okosu_context *context,
                         const char *fix)
{
    char text[8192], field[32];

    if (okosu_file_read(text, sizeof(text), context->root,
                        "/sys/kernel/mm/transparent_hugepage/enabled") < 0)
        return okosu_plan_refuse(plan, -ENOSYS, "this kernel has no transparent huge pages", fix);
    if (strstr(text, "[never]"))
        return okosu_plan_refuse(
            plan, -EPERM, "transparent huge pages are switched off: enabled is [never]",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled");
    if (okosu_file_read(text, sizeof(text), context->root, "/proc/self/status") > 0 &&
        okosu_file_field(text, "THP_enabled", field, sizeof(field)) == 0 && strcmp(field, "0") == 0)
        return okosu_plan_refuse(
            plan, -EPERM, "this process inherited PR_SET_THP_DISABLE from what started it",
            "start okosu-run from a plain shell, or have the service manager leave THP alone");
    return 0;
}
