/* SPDX-License-Identifier: Apache-2.0 */
/* Prepare: the environment is finished last, because what the levers ask for decides what it
 * holds. */
#include "prepare.h"

#include "inspect.h"

#include "base/file.h"
#include "base/message.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel takes no longer string (MAX_ARG_STRLEN, 32 pages). */
#define STRING_LIMIT 131072

/* Variables that the launcher itself, rather than a lever, sets for the preload library. */
static const char *const spoken[] = {"OKOSU_ROOT_PID", "OKOSU_TUNABLES",     "OKOSU_ADDED",
                                     "OKOSU_PROOF",    "OKOSU_PROOF_SIGNAL", "OKOSU_PAD"};
/* Those that users set, too, and that are removed only if an outer okosu-run may have set them. */
static const char *const spoken_or_users[] = {"OKOSU_CHILDREN", "OKOSU_VERBOSE"};

static int no_memory(void)
{
    return okosu_complain(OKOSU_EXIT_FAILED, NULL, NULL, "no memory for the launch plan");
}

/* Removes what an outer okosu-run set for its own preload library: a hook whose variable is absent
 * is inert. */
static int unset_spoken(struct okosu_env *env)
{
    size_t both = okosu_env_get(env, "OKOSU_ROOT_PID")
                      ? sizeof(spoken_or_users) / sizeof(spoken_or_users[0])
                      : 0;
    int rc = 0;

    for (size_t i = 0; okosu_lever_table[i]; i++) {
        const struct okosu_variable *variable = okosu_lever_table[i]->variables;

        for (; variable && variable->name && !rc; variable++) {
            if (!variable->users)
                rc = okosu_env_unset(env, variable->name);
        }
    }
    for (size_t i = 0; i < sizeof(spoken) / sizeof(spoken[0]) && !rc; i++)
        rc = okosu_env_unset(env, spoken[i]);
    for (size_t i = 0; i < both && !rc; i++)
        rc = okosu_env_unset(env, spoken_or_users[i]);
    return rc;
}

/* Whether `piece`, of `length` bytes, is one of the pieces of `list` between colons. */
static bool is_listed(const char *list, const char *piece, size_t length)
{
    for (;;) {
        size_t part = strcspn(list, ":");

        if (part == length && memcmp(list, piece, length) == 0)
            return true;
        if (!list[part])
            return false;
        list += part + 1;
    }
}

/* Whether a path, of `length` bytes, ends in the file name `name`. */
static bool is_named(const char *path, size_t length, const char *name)
{
    size_t size = strlen(name);

    return length >= size && memcmp(path + length - size, name, size) == 0 &&
           (length == size || path[length - size - 1] == '/');
}

/* Whether a path, of `length` bytes, names a library that okosu-run loads. */
static bool is_library(const char *path, size_t length)
{
    bool ours = is_named(path, length, OKOSU_PRELOAD_LIBRARY) ||
                is_named(path, length, OKOSU_PRIME_LIBRARY);

    for (size_t i = 0; okosu_lever_table[i] && !ours; i++) {
        const char *name = okosu_lever_table[i]->library;

        ours = name && is_named(path, length, name);
    }
    return ours;
}

/* Removes pieces from a list, whose pieces end at any of `separators`: those that `added` lists, or
 * our libraries if that is NULL. */
static int thin_out(struct okosu_env *env, const char *name, const char *separators,
                    const char *added)
{
    const char *in = okosu_env_get(env, name);
    char *list = in ? okosu_arena_alloc(env->arena, strlen(in) + 1) : NULL;
    size_t out = 0;

    if (!in)
        return 0;
    if (!list)
        return -ENOMEM;
    for (const char *at = in; *at;) {
        size_t length = strcspn(at, separators);

        if (!(added ? is_listed(added, at, length) : is_library(at, length))) {
            if (out)
                list[out++] = *separators;
            memcpy(list + out, at, length);
            out += length;
        }
        at += length + (at[length] != '\0');
    }
    list[out] = '\0';
    if (strlen(in) == out)
        return 0;
    return out ? okosu_env_set(env, name, list) : okosu_env_unset(env, name);
}

/* Removes what an outer okosu-run has loaded and set, so that this one begins where that one did:
 * the program of a base arm would otherwise have the outer one's levers. The masks and policies
 * that it inherited stay. */
static int undo_outer(struct okosu_env *env)
{
    const char *tunables = okosu_env_get(env, "OKOSU_TUNABLES"),
               *added = okosu_env_get(env, "OKOSU_ADDED");
    int rc = thin_out(env, "LD_PRELOAD", ": ", NULL);

    if (!rc && tunables)
        rc = thin_out(env, "GLIBC_TUNABLES", ":", tunables);
    while (!rc && added && *added) {
        size_t length = strcspn(added, ":");
        char *name = okosu_arena_strndup(env->arena, added, length);

        rc = name ? okosu_env_unset(env, name) : -ENOMEM;
        added += length + (added[length] != '\0');
    }
    return rc ? rc : unset_spoken(env);
}

static int start_environment(struct okosu_launch *launch, char **environment)
{
    struct okosu_plan *plan = &launch->plan;
    struct okosu_options *options = &launch->options;
    const char *children;

    if (okosu_env_init(&plan->env, &plan->arena, environment) || undo_outer(&plan->env))
        return -ENOMEM;
    for (size_t i = 0; i < options->variable_count; i++) {
        const char *variable = options->variables[i], *equals = strchr(variable, '=');
        char *name = okosu_arena_strndup(&plan->arena, variable, (size_t)(equals - variable));

        if (!name || okosu_env_set(&plan->env, name, equals + 1))
            return -ENOMEM;
    }
    children = okosu_env_get(&plan->env, "OKOSU_CHILDREN");
    if (options->children < 0 && children && strcmp(children, "0") == 0)
        options->children = 0;
    return 0;
}

static bool looks_inside(const struct okosu_options *options)
{
    if (options->inspect || options->dry_run || options->placebo || options->children == 0)
        return true;
    for (size_t i = 0; okosu_lever_table[i]; i++) {
        if (options->values[i])
            return true;
    }
    return false;
}

int okosu_prepare_program(struct okosu_launch *launch, char **environment)
{
    struct okosu_arena *arena = &launch->plan.arena;
    struct okosu_program *program = &launch->program;
    const char *name = launch->options.program[0];
    int rc = start_environment(launch, environment);

    if (rc)
        return no_memory();
    rc = okosu_inspect_find(arena, &launch->plan.env, name, program);
    if (rc == -ENOMEM)
        return no_memory();
    if (rc == -ENOENT && strchr(name, '/'))
        return okosu_complain(OKOSU_EXIT_NOT_FOUND, "there is no such file", "check the path",
                              "%s not found", name);
    if (rc == -ENOENT)
        return okosu_complain(OKOSU_EXIT_NOT_FOUND, "no folder of PATH has it",
                              "give its path, as in ./program", "%s not found",
                              *name ? name : "\"\"");
    if (rc == -EISDIR || rc == -EACCES)
        return okosu_complain(OKOSU_EXIT_NOT_EXECUTABLE,
                              rc == -EISDIR ? "it is a folder" : "its permissions do not allow it",
                              rc == -EISDIR
                                  ? "name a program in it"
                                  : okosu_arena_printf(arena, "chmod +x %s", program->path),
                              "%s cannot be executed", program->path);
    if (rc == 0 && looks_inside(&launch->options)) {
        rc = okosu_inspect_read(arena, &launch->plan.env, program);
        if (rc == -ENOMEM)
            return no_memory();
        if (rc && program->image != program->path)
            return okosu_complain(
                OKOSU_EXIT_NOT_EXECUTABLE,
                okosu_arena_printf(arena, "its interpreter %s: %s", program->image, strerror(-rc)),
                "correct its first line, or install the interpreter", "%s cannot be executed",
                program->path);
    }
    if (rc)
        return okosu_complain(OKOSU_EXIT_NOT_EXECUTABLE, strerror(-rc), "check the path",
                              "%s cannot be executed", program->path ? program->path : name);
    return 0;
}

/* The mask: of a captured machine while only planning for it, else of this process. */
static void read_mask(struct okosu_launch *launch)
{
    struct okosu_context *context = &launch->context;
    char status[8192], text[4096];

    if (launch->options.dry_run && strcmp(context->root, "/") != 0) {
        context->inherited_known =
            okosu_file_read(status, sizeof(status), context->root, "/proc/self/status") > 0 &&
            okosu_file_field(status, "Cpus_allowed_list", text, sizeof(text)) == 0 &&
            okosu_cpulist_parse_set(text, &context->inherited) == 0;
        return;
    }
    /* The raw call says how much it wrote; glibc's wrapper would insist on its own size of a
     * set. */
    context->inherited_known = syscall(SYS_sched_getaffinity, 0, sizeof(context->inherited.bits),
                                       context->inherited.bits) > 0;
}

static bool has_sys_nice(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_SYS_NICE & 1);
}

static int make_context(struct okosu_launch *launch)
{
    struct okosu_context *context = &launch->context;
    struct okosu_program *program = &launch->program;
    const char *root = getenv("OKOSU_ROOT");
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self));
    int subreaper = 0;
    char *library;

    context->root = root && *root ? root : "/";
    context->self = okosu_arena_strndup(&launch->plan.arena, length > 0 ? self : "okosu-run",
                                        length > 0 ? (size_t)length : strlen("okosu-run"));
    if (!context->self)
        return -ENOMEM;
    context->program = program;
    context->no_fork = launch->options.no_fork;
    context->rebind = launch->options.rebind;
    context->may_collapse = has_sys_nice();
    context->adopts =
        getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &subreaper) == 0 && subreaper);
    read_mask(launch);

    if (program->preloadable) {
        library = okosu_prepare_library(&launch->plan.arena, context->self);
        if (!library) {
            program->why = OKOSU_PRELOAD_LIBRARY " is not where okosu-run looks";
            context->missing = "OKOSU_PRELOAD_LIB=PATH, in the environment";
        } else if (strpbrk(library, " :")) {
            program->why = okosu_arena_printf(&launch->plan.arena,
                                              "the path %s has a space or colon in it, which "
                                              "LD_PRELOAD cannot hold",
                                              library);
            context->missing = "move okosu to a folder without one, or copy its libraries there "
                               "and set OKOSU_PRELOAD_LIB=FOLDER/" OKOSU_PRELOAD_LIBRARY;
        }
        if (!program->why)
            return -ENOMEM;
        program->preloadable = !*program->why;
        launch->context.library = library;
    }
    return 0;
}

static void record(struct okosu_launch *launch, const char *name, const char *value, int rc,
                   bool hooked)
{
    launch->outcomes[launch->outcome_count++] = (struct okosu_outcome){
        .name = name, .value = value, .rc = rc, .hooked = hooked, .refusal = launch->plan.refusal};
}

/* The preload library, after whatever the user has there; a second copy of it would wrap the
 * first. */
static int add_library(struct okosu_plan *plan, const char *path)
{
    const char *users = okosu_env_get(&plan->env, "LD_PRELOAD");
    const char *both, *library = okosu_prepare_preload(&plan->arena, path);

    if (!library)
        return -ENOMEM;
    if (!users || !*users)
        return okosu_env_set(&plan->env, "LD_PRELOAD", library);
    for (const char *at = users; *at;) {
        size_t length = strcspn(at, " :");

        if (length == strlen(library) && strncmp(at, library, length) == 0)
            return 0;
        at += length + (at[length] != '\0');
    }
    both = okosu_arena_printf(&plan->arena, "%s:%s", users, library);
    return both ? okosu_env_set(&plan->env, "LD_PRELOAD", both) : -ENOMEM;
}

/* A relative path would mean another file once the program changes its directory. */
static int make_proof(struct okosu_launch *launch)
{
    const char *proof = launch->options.proof;
    char *folder;

    launch->proof = proof;
    if (!proof || *proof == '/')
        return 0;
    folder = getcwd(NULL, 0);
    launch->proof = folder ? okosu_arena_printf(&launch->plan.arena, "%s/%s", folder, proof) : NULL;
    free(folder);
    return launch->proof ? 0 : -errno;
}

/* The placebo sets no variable but those that the user asked for. */
static int speak(struct okosu_launch *launch)
{
    const struct okosu_options *options = &launch->options;
    struct okosu_plan *plan = &launch->plan;
    char pid[32];
    int rc = 0;

    for (size_t i = 0; i < plan->hook_count && !rc; i++)
        rc = okosu_env_set(&plan->env, plan->hooks[i].name, plan->hooks[i].value);
    if (!rc && options->children >= 0)
        rc = okosu_env_set(&plan->env, "OKOSU_CHILDREN", options->children ? "1" : "0");
    if (!rc && launch->proof)
        rc = okosu_env_set(&plan->env, "OKOSU_PROOF", launch->proof);
    if (!rc && launch->proof && options->proof_signal)
        rc = okosu_env_set(&plan->env, "OKOSU_PROOF_SIGNAL", options->proof_signal);
    if (!rc && options->verbose)
        rc = okosu_env_set(&plan->env, "OKOSU_VERBOSE", "1");
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    if (!rc && (plan->hook_count || options->children == 0))
        rc = okosu_env_set(&plan->env, "OKOSU_ROOT_PID", pid);
    if (!rc)
        rc = add_library(plan, launch->context.library);
    for (size_t i = 0; i < plan->beside_count && !rc; i++)
        rc = add_library(plan, plan->beside[i]);
    return rc;
}

/* Says in the environment what the levers have set in variables that users set, too, for the
 * library that removes it for the children and for an okosu-run inside the program. `before` is the
 * environment without it. */
static int say_added(struct okosu_plan *plan, const struct okosu_env *before)
{
    const char *names = NULL;

    for (size_t i = 0; okosu_lever_table[i]; i++) {
        const struct okosu_variable *variable = okosu_lever_table[i]->variables;

        for (; variable && variable->name; variable++) {
            const char *name = variable->name, *now = okosu_env_get(&plan->env, name);

            if (!variable->users || strcmp(name, "GLIBC_TUNABLES") == 0 || !now ||
                now == okosu_env_get(before, name))
                continue;
            names = names ? okosu_arena_printf(&plan->arena, "%s:%s", names, name) : name;
            if (!names)
                return -ENOMEM;
        }
    }
    if (names && okosu_env_set(&plan->env, "OKOSU_ADDED", names))
        return -ENOMEM;
    return plan->added_tunables ? okosu_env_set(&plan->env, "OKOSU_TUNABLES", plan->added_tunables)
                                : 0;
}

static int pad(struct okosu_plan *plan, size_t wanted)
{
    size_t bytes = okosu_env_bytes(&plan->env), fixed = strlen("OKOSU_PAD=") + 1;
    char *text;

    if (bytes == wanted)
        return 0;
    if (wanted < bytes + fixed || wanted - bytes > STRING_LIMIT) {
        okosu_plan_note(
            plan, false,
            okosu_arena_printf(&plan->arena, "the environment is not padded to %zu bytes", wanted),
            okosu_arena_printf(&plan->arena, "it has %zu, and the padding has between %zu and %d",
                               bytes, fixed, STRING_LIMIT),
            "another --pad-env");
        return 0;
    }
    text = okosu_arena_alloc(&plan->arena, wanted - bytes - fixed + 1);
    if (!text)
        return -ENOMEM;
    memset(text, 'x', wanted - bytes - fixed);
    return okosu_env_set(&plan->env, "OKOSU_PAD", text);
}

/* A lever uses its library only where it has set a hook there or loads that library; a value that
 * needs only the kernel or glibc excludes no other lever. */
static int refuse_excluded(struct okosu_launch *launch, const struct okosu_lever *lever)
{
    struct okosu_plan *plan = &launch->plan;

    for (size_t i = 0; i < launch->outcome_count; i++) {
        const struct okosu_outcome *before = &launch->outcomes[i];

        if (before->hooked && okosu_lever_excludes(lever, okosu_lever_find(before->name)))
            return okosu_plan_refuse(plan, -EBUSY,
                                     okosu_arena_printf(&plan->arena,
                                                        "%s serves the same %s, and comes first",
                                                        before->name, lever->serves),
                                     okosu_arena_printf(&plan->arena, "--skip=%s", before->name));
    }
    return 0;
}

/* 0, or an exit status: a value that its lever cannot read is a mistake of the command line,
 * whatever --strict says. */
static int apply_levers(struct okosu_launch *launch)
{
    for (size_t i = 0; okosu_lever_table[i]; i++) {
        const struct okosu_lever *lever = okosu_lever_table[i];
        const char *value = launch->options.values[i];
        size_t loaded = launch->plan.hook_count + launch->plan.beside_count;
        int rc;

        if (!value)
            continue;
        launch->plan.refusal = (struct okosu_refusal){0};
        rc = refuse_excluded(launch, lever);
        if (!rc)
            rc = lever->apply(&launch->plan, value, &launch->context);
        if (rc == -ENOMEM)
            return no_memory();
        if (rc == -EINVAL)
            return okosu_complain(OKOSU_EXIT_FAILED, launch->plan.refusal.why,
                                  launch->plan.refusal.fix, "%s=%s: there is no such value",
                                  lever->name, value);
        record(launch, lever->name, value, rc,
               launch->plan.hook_count + launch->plan.beside_count > loaded);
    }
    return 0;
}

static bool something_applied(const struct okosu_launch *launch)
{
    for (size_t i = 0; i < launch->outcome_count; i++) {
        if (launch->outcomes[i].rc == 0)
            return true;
    }
    return false;
}

int okosu_prepare_plan(struct okosu_launch *launch)
{
    struct okosu_plan *plan = &launch->plan;
    const struct okosu_options *options = &launch->options;
    struct okosu_env before = {.count = plan->env.count};
    int rc;

    before.entries = okosu_arena_alloc(&plan->arena, (before.count + 1) * sizeof(*before.entries));
    if (!before.entries || make_context(launch))
        return no_memory();
    memcpy(before.entries, plan->env.entries, before.count * sizeof(*before.entries));
    if (make_proof(launch))
        return okosu_complain(OKOSU_EXIT_FAILED, strerror(errno), "give an absolute path",
                              "--proof=%s cannot be made absolute", options->proof);
    rc = apply_levers(launch);
    if (rc)
        return rc;
    if (options->placebo) {
        plan->refusal = (struct okosu_refusal){0};
        rc = okosu_plan_needs_preload(plan, &launch->context, "leave --placebo out");
        if (rc == -ENOMEM)
            return no_memory();
        record(launch, "placebo", NULL, rc, false);
        plan->preload |= rc == 0;
    }
    /* If no lever was applied, the children's environment needs no cleaning. */
    if (options->children == 0 && launch->program.preloadable && something_applied(launch))
        plan->preload = true;
    if (okosu_plan_compose_tunables(plan) || (plan->preload && speak(launch)) ||
        (plan->prime && add_library(plan, plan->prime)) || say_added(plan, &before) ||
        (options->pad && pad(plan, options->pad_env)))
        return no_memory();
    return 0;
}

char *okosu_prepare_outcome(struct okosu_launch *launch, const struct okosu_outcome *outcome)
{
    struct okosu_arena *arena = &launch->plan.arena;
    const char *sign = outcome->value ? "=" : "", *value = outcome->value ? outcome->value : "";

    if (outcome->rc == 0)
        return okosu_arena_printf(arena, "%s%s%s applied", outcome->name, sign, value);
    return okosu_arena_printf(arena, "%s%s%s not applied: %s", outcome->name, sign, value,
                              strerror(-outcome->rc));
}
