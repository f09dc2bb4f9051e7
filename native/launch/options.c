/* SPDX-License-Identifier: Apache-2.0 */
/* Options: those of the table, and a lever for each of its rows. */
#include "options.h"

#include "base/message.h"
#include "base/option.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *set_children(void *field, const char *value)
{
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return "it is 0 or 1";
    *(int *)field = *value - '0';
    return NULL;
}

static const char *const *lever_names(void)
{
    static const char *names[OKOSU_LEVER_LIMIT + 1];

    for (size_t i = 0; i < OKOSU_LEVER_LIMIT && okosu_lever_table[i]; i++)
        names[i] = okosu_lever_table[i]->name;
    return names;
}

/* The lever is left out once all options have been read, so that the order of options does not
 * matter. */
static const char *set_skip(void *field, const char *value)
{
    static char complaint[80];
    const char *const *names = lever_names(), *near;
    bool *skipped = field;
    size_t i = 0;

    for (; names[i]; i++) {
        if (strcmp(names[i], value) == 0) {
            skipped[i] = true;
            return NULL;
        }
    }
    near = okosu_message_nearest(value, names, i);
    snprintf(complaint, sizeof(complaint), "there is no such lever%s%s%s",
             near ? ": did you mean --skip=" : "", near ? near : "", near ? "?" : "");
    return complaint;
}

static const char *set_env(void *field, const char *value)
{
    struct okosu_options *options = field;
    const char *equals = strchr(value, '=');

    if (!equals || equals == value)
        return "it is NAME=VALUE";
    options->variables[options->variable_count++] = (char *)value;
    return NULL;
}

static const char *set_proof_signal(void *field, const char *value)
{
    uint64_t number;

    *(const char **)field = value;
    return !okosu_option_number(value, &number) || number < 1 || number > (uint64_t)SIGRTMAX
               ? "it is the number of a signal, 15 for SIGTERM"
               : NULL;
}

static const char *set_pad_env(void *field, const char *value)
{
    struct okosu_options *options = field;

    options->pad = true;
    return okosu_option_number(value, &options->pad_env) ? NULL : "it is a number of bytes";
}

static const char *set_delay(void *field, const char *value)
{
    double *delay = field;
    char *end;

    *delay = strtod(value, &end);
    return end == value || *end || !isfinite(*delay) || *delay < 0 || *delay > 1e6
               ? "it is a number of seconds, from 0 to a million"
               : NULL;
}

#define SWITCH(member) OKOSU_SWITCH(struct okosu_options, member)
#define TEXT(member) OKOSU_TEXT(struct okosu_options, member)
#define SET(member, set) OKOSU_SET(struct okosu_options, member, set)

static const struct okosu_option rows[] = {
    {"placebo", NULL, "load the preload library with every hook inert", SWITCH(placebo)},
    {"children", "0|1", "0: the program's children do not inherit the levers (default 1)",
     SET(children, set_children)},
    {"no-fork", NULL, "your word that the program does not fork: allows hugetlb pages",
     SWITCH(no_fork)},
    {"skip", "LEVER", "leave this lever out", SET(skipped, set_skip)},
    {"strict", NULL, "do not start the program if a lever cannot be applied", SWITCH(strict)},
    {"rebind", NULL, "slice the mask again even if the MPI launcher narrowed it", SWITCH(rebind)},
    {"env", "NAME=VALUE", "set a variable for the program only", OKOSU_SET_ANY(set_env)},
    {"proof", "FILE", "append the evidence of what took effect, a JSON line a process",
     TEXT(proof)},
    {"proof-signal", "NUMBER", "write it also when this signal ends a process",
     SET(proof_signal, set_proof_signal)},
    {"pad-env", "BYTES", "pad the environment (strings with their NULs) to this size",
     OKOSU_SET_ANY(set_pad_env)},
    {"delay", "SECONDS", "spin for that long before the program starts", SET(delay, set_delay)},
    {"inspect", NULL, "say as JSON what okosu can do with PROGRAM; run nothing", SWITCH(inspect)},
    {"dry-run", NULL, "print arguments, environment changes and system calls; run nothing",
     SWITCH(dry_run)},
    {"json", NULL, "with --dry-run: print them as JSON", SWITCH(json)},
    {"describe", NULL, "print the table of levers as JSON", SWITCH(describe)},
    {"verbose", NULL, "say what is done on stderr", SWITCH(verbose)},
    {"version", NULL, "print the version", SWITCH(version)},
    {"help", NULL, "print this text", SWITCH(help)},
    {.name = NULL},
};

static int unknown_value(struct okosu_arena *arena, const struct okosu_lever *lever,
                         const char *value)
{
    const char *names[OKOSU_LEVER_LIMIT] = {NULL}, *near, *why = "";
    const char *fix = "see okosu-run --help";
    size_t count = 0;

    for (const struct okosu_value *row = lever->values; row->value && count < OKOSU_LEVER_LIMIT;
         row++) {
        names[count++] = row->value;
        why = why ? okosu_arena_printf(arena, "%s%s %s", why, *why ? "," : "", row->value) : NULL;
    }
    near = okosu_message_nearest(value, names, count);
    if (why)
        why = okosu_arena_printf(arena, "%s takes%s", lever->name, why);
    if (near)
        fix = okosu_arena_printf(arena, "did you mean --%s=%s?", lever->name, near);
    return okosu_complain(-EINVAL, why, fix, "%s=%s: there is no such value", lever->name, value);
}

/* Returns 1, -ENOENT where the option is no lever, or -EINVAL after a message. */
static int read_lever(struct okosu_options *options, struct okosu_arena *arena,
                      const char *argument)
{
    size_t length = strcspn(argument, "=");

    for (size_t i = 0; okosu_lever_table[i]; i++) {
        const struct okosu_lever *lever = okosu_lever_table[i];
        const char *value = argument[length] ? argument + length + 1 : lever->default_value;

        if (strlen(lever->name) != length || strncmp(argument, lever->name, length) != 0)
            continue;
        if (!okosu_lever_accepts(lever, value))
            return unknown_value(arena, lever, value);
        options->values[i] = value;
        return 1;
    }
    return -ENOENT;
}

/* Rejects contradictory combinations of options. */
static int check(const struct okosu_options *options)
{
    if (options->help || options->version || options->describe)
        return 0;
    if (options->json && !options->dry_run && !options->inspect)
        return okosu_complain(-EINVAL, "without --dry-run the program is run", "--dry-run --json",
                              "--json prints what --dry-run finds");
    if (!options->program[0])
        return okosu_complain(-EINVAL, "there is nothing after the options",
                              "okosu-run [LEVER...] [OPTION...] -- PROGRAM [ARG...]",
                              "no program to run");
    return 0;
}

int okosu_options_read(struct okosu_options *options, struct okosu_arena *arena, int argc,
                       char **argv)
{
    int at = 1, used = 0;

    *options = (struct okosu_options){.children = -1};
    options->variables = okosu_arena_alloc(arena, (size_t)argc * sizeof(*options->variables));
    if (!options->variables)
        return okosu_complain(-EINVAL, NULL, NULL, "no memory");
    for (; at < argc && strncmp(argv[at], "--", 2) == 0 && argv[at][2]; at += used) {
        used = read_lever(options, arena, argv[at] + 2);
        if (used == -ENOENT)
            used = okosu_option_read(rows, lever_names(), options, argv + at);
        if (used < 0)
            return used;
    }
    if (at < argc && argv[at][0] == '-' && argv[at][1] && strcmp(argv[at], "--") != 0)
        return okosu_complain(-EINVAL, "options are words after two dashes", "see okosu-run --help",
                              "there is no option %s", argv[at]);
    for (size_t i = 0; i < OKOSU_LEVER_LIMIT; i++)
        options->values[i] = options->skipped[i] ? NULL : options->values[i];
    options->program = argv + at + (at < argc && strcmp(argv[at], "--") == 0);
    return check(options);
}

void okosu_options_help(void)
{
    fputs(
        "Run a program with levers applied to it: nothing persistent, no change to the program.\n\n"
        "  okosu-run --superpage=thp -- ./app args\n"
        "  okosu-run --pin=list:0-3 --numa=bind:0 --retain -- ./app args\n"
        "  okosu-run --pin=compact --dry-run -- ./app args\n\n"
        "usage: okosu-run [LEVER...] [OPTION...] -- PROGRAM [ARG...]\n\nlevers:\n",
        stdout);
    for (size_t i = 0; okosu_lever_table[i]; i++) {
        const struct okosu_lever *lever = okosu_lever_table[i];

        printf("  --%s[=VALUE]  %s (default %s)\n", lever->name, lever->doc, lever->default_value);
        for (const struct okosu_value *row = lever->values; row->value; row++)
            printf("      %-20s %s\n", row->value, row->doc);
    }
    fputs("\noptions:\n", stdout);
    okosu_option_help(stdout, rows);
    fputs("\nExit status: the program's own; 125 okosu-run failed, 126 not executable, 127 not "
          "found.\n",
          stdout);
}
