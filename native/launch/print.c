/* SPDX-License-Identifier: Apache-2.0 */
/* Print: text for people to read and paste, JSON for programs; both say the same. */
#include "print.h"

#include "inspect.h"

#include "base/json.h"

#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>

/* "sched_setaffinity", "set_mempolicy", text, helper, delay, execve */
#define CALL_LIMIT 6
#define NODE_BITS (8 * sizeof(unsigned long))

static void write_values(struct okosu_json *json, const struct okosu_lever *lever)
{
    okosu_json_open(json, "values", '[');
    for (const struct okosu_value *row = lever->values; row->value; row++) {
        okosu_json_open(json, NULL, '{');
        okosu_json_string(json, "value", row->value);
        okosu_json_string(json, "doc", row->doc);
        okosu_json_bool(json, "preload", row->preload);
        okosu_json_bool(json, "no_fork", row->no_fork);
        okosu_json_close(json, '}');
    }
    okosu_json_close(json, ']');
}

static void write_names(struct okosu_json *json, const struct okosu_lever *lever)
{
    const struct okosu_variable *variable = lever->variables;
    const char *const *what = lever->observes;

    okosu_json_open(json, "variables", '[');
    for (; variable && variable->name; variable++)
        okosu_json_string(json, NULL, variable->name);
    okosu_json_close(json, ']');
    okosu_json_open(json, "excludes", '[');
    for (size_t i = 0; okosu_lever_table[i]; i++) {
        if (okosu_lever_excludes(lever, okosu_lever_table[i]))
            okosu_json_string(json, NULL, okosu_lever_table[i]->name);
    }
    okosu_json_close(json, ']');
    okosu_json_open(json, "observes", '[');
    for (; what && *what; what++)
        okosu_json_string(json, NULL, *what);
    okosu_json_close(json, ']');
}

void okosu_print_levers(void)
{
    struct okosu_json json = okosu_json_begin(stdout);

    okosu_json_open(&json, "levers", '[');
    for (size_t i = 0; okosu_lever_table[i]; i++) {
        const struct okosu_lever *lever = okosu_lever_table[i];

        okosu_json_open(&json, NULL, '{');
        okosu_json_string(&json, "name", lever->name);
        okosu_json_string(&json, "doc", lever->doc);
        okosu_json_string(&json, "default", lever->default_value);
        write_values(&json, lever);
        okosu_json_string(&json, "library", lever->library);
        write_names(&json, lever);
        okosu_json_close(&json, '}');
    }
    okosu_json_close(&json, ']');
    okosu_json_end(&json);
}

static void write_program(struct okosu_json *json, const struct okosu_program *program)
{
    okosu_json_string(json, "path", program->path);
    okosu_json_string(json, "kind", okosu_inspect_kind(program->kind));
    okosu_json_bool(json, "setuid", program->setuid);
    okosu_json_string(json, "script", program->script ? program->image : NULL);
    okosu_json_bool(json, "preloadable", program->preloadable);
    okosu_json_string(json, "why", program->why);
}

void okosu_print_program(const struct okosu_program *program)
{
    struct okosu_json json = okosu_json_begin(stdout);

    write_program(&json, program);
    okosu_json_end(&json);
}

const char *okosu_print_policy(int policy)
{
    switch (policy) {
    case MPOL_BIND:
        return "MPOL_BIND";
    case MPOL_INTERLEAVE:
        return "MPOL_INTERLEAVE";
    case MPOL_PREFERRED:
        return "MPOL_PREFERRED";
    case MPOL_LOCAL:
        return "MPOL_LOCAL";
    default:
        return "MPOL_DEFAULT";
    }
}

const char *okosu_print_cpus(struct okosu_plan *plan, const struct okosu_cpuset *cpus)
{
    size_t size = okosu_cpuset_count(cpus) * 5 + 1;
    char *text = okosu_arena_alloc(&plan->arena, size);

    return text && okosu_cpulist_format(cpus, text, size) >= 0 ? text : "";
}

const char *okosu_print_nodes(struct okosu_plan *plan)
{
    struct okosu_cpuset nodes = {0};

    for (unsigned node = 0; node < OKOSU_NODE_LIMIT; node++) {
        if (plan->nodes[node / NODE_BITS] >> (node % NODE_BITS) & 1)
            okosu_cpuset_add(&nodes, node);
    }
    return okosu_print_cpus(plan, &nodes);
}

/* The system calls of the launch in their order; returns how many. */
static size_t list_calls(struct okosu_launch *launch, const char **calls)
{
    struct okosu_plan *plan = &launch->plan;
    struct okosu_arena *arena = &plan->arena;
    size_t count = 0;

    if (plan->affinity_lever)
        calls[count++] = okosu_arena_printf(arena, "sched_setaffinity(0, %s)",
                                            okosu_print_cpus(plan, &plan->affinity));
    if (plan->policy_lever)
        calls[count++] =
            okosu_arena_printf(arena, "set_mempolicy(%s, %s)", okosu_print_policy(plan->policy),
                               *okosu_print_nodes(plan) ? okosu_print_nodes(plan) : "no nodes");
    if (plan->text_lever)
        calls[count++] = okosu_arena_printf(
            arena,
            "posix_fadvise(POSIX_FADV_DONTNEED), madvise(MADV_HUGEPAGE, MADV_POPULATE_READ): "
            "the code of %s%s, unless it is on huge pages",
            plan->text[0],
            plan->text_count > 1 ? okosu_arena_printf(arena, " and %zu more", plan->text_count - 1)
                                 : "");
    if (plan->helper_lever)
        calls[count++] =
            "clone(CLONE_UNTRACED) twice: a helper that calls process_madvise(MADV_COLLAPSE)";
    if (launch->options.delay > 0)
        calls[count++] = okosu_arena_printf(arena, "clock_gettime(CLOCK_MONOTONIC) for %g s",
                                            launch->options.delay);
    calls[count++] =
        okosu_arena_printf(arena, "execve(%s): %zu variables, %zu bytes", launch->program.path,
                           plan->env.count, okosu_env_bytes(&plan->env));
    return count;
}

static void write_json(struct okosu_launch *launch, const char *const *calls, size_t call_count)
{
    struct okosu_plan *plan = &launch->plan;
    struct okosu_json json = okosu_json_begin(stdout);

    okosu_json_open(&json, "argv", '[');
    for (char *const *argument = launch->options.program; *argument; argument++)
        okosu_json_string(&json, NULL, *argument);
    okosu_json_close(&json, ']');
    okosu_json_open(&json, "program", '{');
    write_program(&json, &launch->program);
    okosu_json_close(&json, '}');
    okosu_json_open(&json, "levers", '[');
    for (size_t i = 0; i < launch->outcome_count; i++) {
        const struct okosu_outcome *outcome = &launch->outcomes[i];

        okosu_json_open(&json, NULL, '{');
        okosu_json_string(&json, "name", outcome->name);
        okosu_json_string(&json, "value", outcome->value);
        okosu_json_bool(&json, "applied", outcome->rc == 0);
        okosu_json_string(&json, "why", outcome->rc ? outcome->refusal.why : "");
        okosu_json_string(&json, "fix", outcome->rc ? outcome->refusal.fix : "");
        okosu_json_close(&json, '}');
    }
    okosu_json_close(&json, ']');
    okosu_json_open(&json, "env", '{');
    for (size_t i = 0; i < plan->env.touched_count; i++)
        okosu_json_string(&json, plan->env.touched[i],
                          okosu_env_get(&plan->env, plan->env.touched[i]));
    okosu_json_close(&json, '}');
    okosu_json_int(&json, "env_bytes", (long long)okosu_env_bytes(&plan->env));
    okosu_json_string(&json, "affinity",
                      plan->affinity_lever ? okosu_print_cpus(plan, &plan->affinity) : NULL);
    okosu_json_string(&json, "policy",
                      plan->policy_lever ? okosu_print_policy(plan->policy) : NULL);
    okosu_json_string(&json, "nodes", plan->policy_lever ? okosu_print_nodes(plan) : NULL);
    okosu_json_bool(&json, "preload", plan->preload);
    okosu_json_open(&json, "text", '[');
    for (size_t i = 0; i < plan->text_count; i++)
        okosu_json_string(&json, NULL, plan->text[i]);
    okosu_json_close(&json, ']');
    okosu_json_bool(&json, "helper", plan->helper_lever != NULL);
    okosu_json_open(&json, "calls", '[');
    for (size_t i = 0; i < call_count; i++)
        okosu_json_string(&json, NULL, calls[i]);
    okosu_json_close(&json, ']');
    okosu_json_open(&json, "notes", '[');
    for (size_t i = 0; i < plan->note_count; i++) {
        okosu_json_open(&json, NULL, '{');
        okosu_json_string(&json, "what", plan->notes[i].what);
        okosu_json_string(&json, "why", plan->notes[i].why);
        okosu_json_string(&json, "fix", plan->notes[i].fix);
        okosu_json_close(&json, '}');
    }
    okosu_json_close(&json, ']');
    okosu_json_end(&json);
}

/* As a shell would have to be given it. */
static void write_quoted(const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";

    if (*text && text[strspn(text, plain)] == '\0') {
        fputs(text, stdout);
        return;
    }
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*text);
    }
    putchar('\'');
}

void okosu_print_plan(struct okosu_launch *launch)
{
    const struct okosu_env *env = &launch->plan.env;
    const char *calls[CALL_LIMIT];
    size_t count = list_calls(launch, calls);

    if (launch->options.json) {
        write_json(launch, calls, count);
        return;
    }
    printf("program  %s (%s)\nargv    ", launch->program.path,
           okosu_inspect_kind(launch->program.kind));
    for (char *const *argument = launch->options.program; *argument; argument++) {
        putchar(' ');
        write_quoted(*argument);
    }
    putchar('\n');
    for (size_t i = 0; i < env->touched_count; i++) {
        const char *value = okosu_env_get(env, env->touched[i]);

        printf("%s %s", value ? "set     " : "unset   ", env->touched[i]);
        /* The padding is long and means nothing to a reader. */
        if (value && strcmp(env->touched[i], "OKOSU_PAD") == 0) {
            printf(" (%zu bytes)", strlen(value));
        } else if (value) {
            putchar('=');
            write_quoted(value);
        }
        putchar('\n');
    }
    for (size_t i = 0; i < count; i++)
        printf("call     %s\n", calls[i]);
}
