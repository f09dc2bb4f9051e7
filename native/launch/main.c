/* SPDX-License-Identifier: Apache-2.0 */
/* okosu-run: reads options, lets the levers fill a launch plan, prints it or carries it out, and
 * becomes the program. */
#include "carry.h"
#include "inspect.h"
#include "options.h"
#include "prepare.h"
#include "print.h"

#include "base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The environment as execve got it. A launcher with file capabilities (CAP_SYS_NICE for a
 * lever's helper) is loaded in secure mode, in which ld.so takes LD_PRELOAD, LD_LIBRARY_PATH
 * and others out of environ; but the program, which has no such capability, is to have them. The
 * strings lie between the last argument and the name of the executable. */
static char **given_environment(struct okosu_arena *arena, int argc, char **argv)
{
    const char *end = (const char *)getauxval(AT_EXECFN);
    char *start = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
    char **entries;
    size_t count = 0;

    if (!getauxval(AT_SECURE) || !end || start > end)
        return environ;
    for (const char *at = start; at < end; at += strlen(at) + 1)
        count++;
    entries = okosu_arena_alloc(arena, (count + 1) * sizeof(*entries));
    if (!entries)
        return environ;
    count = 0;
    for (char *at = start; at < end; at += strlen(at) + 1)
        entries[count++] = at;
    return entries;
}

/* Print the warnings and notes that precede the program's start. */
static void report(struct okosu_launch *launch)
{
    const struct okosu_plan *plan = &launch->plan;

    for (size_t i = 0; i < launch->outcome_count; i++) {
        const struct okosu_outcome *outcome = &launch->outcomes[i];

        if (outcome->rc)
            okosu_message(okosu_prepare_outcome(launch, outcome), outcome->refusal.why,
                          outcome->refusal.fix);
        else if (launch->options.verbose)
            okosu_message(okosu_prepare_outcome(launch, outcome), NULL, NULL);
    }
    for (size_t i = 0; i < plan->note_count; i++) {
        if (plan->notes[i].always || launch->options.verbose)
            okosu_message(plan->notes[i].what, plan->notes[i].why, plan->notes[i].fix);
    }
}

static bool refused(const struct okosu_launch *launch)
{
    for (size_t i = 0; i < launch->outcome_count; i++) {
        if (launch->outcomes[i].rc)
            return true;
    }
    return false;
}

static int run(struct okosu_launch *launch, char **environment)
{
    int rc = okosu_prepare_program(launch, environment);

    if (rc)
        return rc;
    if (launch->options.inspect) {
        okosu_print_program(&launch->program);
        return 0;
    }
    rc = okosu_prepare_plan(launch);
    if (rc)
        return rc;
    report(launch);
    if (launch->options.dry_run)
        okosu_print_plan(launch);
    if (launch->options.strict && refused(launch)) {
        okosu_message("the program was not started", "--strict, and a lever could not be applied",
                      "leave --strict or that lever out");
        return OKOSU_EXIT_FAILED;
    }
    return launch->options.dry_run ? 0 : okosu_carry_out(launch);
}

int main(int argc, char **argv)
{
    struct okosu_launch launch = {0};
    struct okosu_arena *arena = &launch.plan.arena;
    char **environment;
    int rc = OKOSU_EXIT_FAILED;

    if (argc < 1 || geteuid() != getuid() || getegid() != getgid()) {
        okosu_message("okosu-run must not be set-user-ID or set-group-ID",
                      "it runs any program that it is told to, with all its variables",
                      "chmod ug-s; what a lever's helper needs is the one capability CAP_SYS_NICE");
        return OKOSU_EXIT_FAILED;
    }
    environment = given_environment(arena, argc, argv);
    if (okosu_options_read(&launch.options, arena, argc, argv))
        goto out;
    rc = 0;
    if (launch.options.help)
        okosu_options_help();
    else if (launch.options.version)
        puts("okosu-run " OKOSU_VERSION);
    else if (launch.options.describe)
        okosu_print_levers();
    else
        rc = run(&launch, environment);
    if (fflush(stdout)) {
        okosu_message("stdout cannot be written", "it is closed or full", NULL);
        rc = OKOSU_EXIT_FAILED;
    }
out:
    okosu_env_free(&launch.plan.env);
    okosu_arena_free(arena);
    return rc;
}
