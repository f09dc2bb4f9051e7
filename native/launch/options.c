/* SPDX-License-Identifier: Apache-2.0 */
/* Options: one table from which both the parser and the help text are made. */
#include "options.h"

#include "base/message.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns an error text, or NULL if the value is valid. */
typedef const char *(*setter)(struct okosu_options *options, const char *value);

struct row {
    const char *name;
    const char *parameter; /* NULL: a switch */
    const char *doc;
    setter set;  /* of an option with a parameter */
    size_t flag; /* of a switch: offset of its bool */
};

static const char *set_children(struct okosu_options *options, const char *value)
{
    if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        return "it is 0 or 1";
    options->children = *value - '0';
    return NULL;
}

static const char *set_skip(struct okosu_options *options, const char *value)
{
    /* The lever is left out once all options have been read, so that the order of options does
     * not matter. */
    return okosu_lever_find(value) ? NULL : "there is no such lever";
}

static const char *set_env(struct okosu_options *options, const char *value)
{
    const char *equals = strchr(value, '=');

    if (!equals || equals == value)
        return "it is NAME=VALUE";
    options->variables[options->variable_count++] = (char *)value;
    return NULL;
}

static const char *set_proof(struct okosu_options *options, const char *value)
{
    options->proof = value;
    return *value ? NULL : "it is the name of a file";
}

static const char *set_proof_signal(struct okosu_options *options, const char *value)
{
    char *end;
    long number = strtol(value, &end, 10);

    options->proof_signal = value;
    return *value < '0' || *value > '9' || *end || number < 1 || number > SIGRTMAX
               ? "it is the number of a signal, 15 for SIGTERM"
               : NULL;
}

static const char *set_pad_env(struct okosu_options *options, const char *value)
{
    char *end;

    errno = 0;
    options->pad_env = strtoul(value, &end, 10);
    options->pad = true;
    return *value < '0' || *value > '9' || *end || errno ? "it is a number of bytes" : NULL;
}

static const char *set_delay(struct okosu_options *options, const char *value)
{
    char *end;

    options->delay = strtod(value, &end);
    return end == value || *end || !isfinite(options->delay) || options->delay < 0 ||
                   options->delay > 1e6
               ? "it is a number of seconds, from 0 to a million"
               : NULL;
}

#define SWITCH(member) NULL, offsetof(struct okosu_options, member)

static const struct row rows[] = {
    {"placebo", NULL, "load the preload library with every hook inert", SWITCH(placebo)},
    {"children", "0|1", "0: the program's children do not inherit the levers (default 1)",
     set_children, 0},
    {"no-fork", NULL, "your word that the program does not fork: allows hugetlb pages",
     SWITCH(no_fork)},
    {"skip", "LEVER", "leave this lever out", set_skip, 0},
    {"strict", NULL, "do not start the program if a lever cannot be applied", SWITCH(strict)},
    {"rebind", NULL, "slice the mask again even if the MPI launcher narrowed it", SWITCH(rebind)},
    {"env", "NAME=VALUE", "set a variable for the program only", set_env, 0},
    {"proof", "FILE", "append the evidence of what took effect, a JSON line a process", set_proof,
     0},
    {"proof-signal", "NUMBER", "write it also when this signal ends a process", set_proof_signal,
     0},
    {"pad-env", "BYTES", "pad the environment (strings with their NULs) to this size", set_pad_env,
     0},
    {"delay", "SECONDS", "spin for that long before the program starts", set_delay, 0},
    {"inspect", NULL, "say as JSON what okosu can do with PROGRAM; run nothing", SWITCH(inspect)},
    {"dry-run", NULL, "print arguments, environment changes and system calls; run nothing",
     SWITCH(dry_run)},
    {"json", NULL, "with --dry-run: print them as JSON", SWITCH(json)},
    {"describe", NULL, "print the table of levers as JSON", SWITCH(describe)},
    {"verbose", NULL, "say what is done on stderr", SWITCH(verbose)},
    {"version", NULL, "print the version", SWITCH(version)},
    {"help", NULL, "print this text", SWITCH(help)},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int complain(struct okosu_arena *arena, const char *what, const char *why, const char *fix)
{
    okosu_message(what ? what : "no memory", why, fix);
    okosu_arena_free(arena);
    return -EINVAL;
}

/* The fix of an unknown name: the nearest one there is. */
static const char *suggest(struct okosu_arena *arena, const char *given, const char *const *names,
                           size_t count, const char *prefix)
{
    const char *near = okosu_message_nearest(given, names, count);

    if (!near)
        return "see okosu-run --help";
    return okosu_arena_printf(arena, "did you mean %s%s?", prefix, near);
}

static int unknown_option(struct okosu_arena *arena, const char *name)
{
    const char *names[OKOSU_LEVER_LIMIT + ROWS];
    size_t count = 0;

    for (size_t i = 0; okosu_lever_table[i]; i++)
        names[count++] = okosu_lever_table[i]->name;
    for (size_t i = 0; i < ROWS; i++)
        names[count++] = rows[i].name;
    return complain(arena, okosu_arena_printf(arena, "there is no lever or option --%s", name),
                    NULL, suggest(arena, name, names, count, "--"));
}

static int unknown_value(struct okosu_arena *arena, const struct okosu_lever *lever,
                         const char *value)
{
    const char *names[OKOSU_LEVER_LIMIT];
    const char *all = "";
    size_t count = 0;

    for (const struct okosu_value *row = lever->values; row->value && count < OKOSU_LEVER_LIMIT;
         row++) {
        names[count++] = row->value;
        all = okosu_arena_printf(arena, "%s%s%s", all ? all : "", all && *all ? ", " : "",
                                 row->value);
    }
    return complain(
        arena, okosu_arena_printf(arena, "%s=%s: there is no such value", lever->name, value),
        okosu_arena_printf(arena, "%s takes %s", lever->name, all),
        suggest(arena, value, names, count, okosu_arena_printf(arena, "--%s=", lever->name)));
}

static int read_lever(struct okosu_options *options, struct okosu_arena *arena, size_t index,
                      const char *value)
{
    const struct okosu_lever *lever = okosu_lever_table[index];

    value = value ? value : lever->default_value;
    if (!okosu_lever_accepts(lever, value))
        return unknown_value(arena, lever, value);
    options->values[index] = value;
    return 0;
}

static int read_row(struct okosu_options *options, struct okosu_arena *arena, const struct row *row,
                    const char *value)
{
    const char *complaint;

    if (!row->parameter) {
        if (value)
            return complain(arena, okosu_arena_printf(arena, "--%s takes no value", row->name),
                            NULL, okosu_arena_printf(arena, "--%s", row->name));
        *(bool *)((char *)options + row->flag) = true;
        return 0;
    }
    if (!value)
        return complain(arena, okosu_arena_printf(arena, "--%s needs a value", row->name), NULL,
                        okosu_arena_printf(arena, "--%s=%s", row->name, row->parameter));
    complaint = row->set(options, value);
    if (!complaint)
        return 0;
    if (row->set == set_skip) {
        const char *names[OKOSU_LEVER_LIMIT];
        size_t count = 0;

        for (; okosu_lever_table[count]; count++)
            names[count] = okosu_lever_table[count]->name;
        return complain(arena, okosu_arena_printf(arena, "--skip=%s: %s", value, complaint), NULL,
                        suggest(arena, value, names, count, "--skip="));
    }
    return complain(arena, okosu_arena_printf(arena, "--%s=%s: %s", row->name, value, complaint),
                    NULL, okosu_arena_printf(arena, "--%s=%s", row->name, row->parameter));
}

static int read_option(struct okosu_options *options, struct okosu_arena *arena,
                       const char *argument)
{
    const char *equals = strchr(argument, '=');
    const char *value = equals ? equals + 1 : NULL;
    char *name = okosu_arena_strndup(arena, argument,
                                     equals ? (size_t)(equals - argument) : strlen(argument));

    if (!name)
        return complain(arena, "no memory", NULL, NULL);
    for (size_t i = 0; okosu_lever_table[i]; i++) {
        if (strcmp(okosu_lever_table[i]->name, name) == 0)
            return read_lever(options, arena, i, value);
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return read_row(options, arena, &rows[i], value);
    }
    return unknown_option(arena, name);
}

/* Rejects contradictory combinations of options. */
static int check(const struct okosu_options *options, struct okosu_arena *arena)
{
    if (options->help || options->version || options->describe)
        return 0;
    if (options->json && !options->dry_run && !options->inspect)
        return complain(arena, "--json prints what --dry-run finds",
                        "without --dry-run the program is run", "--dry-run --json");
    if (!options->program[0])
        return complain(arena, "no program to run", "there is nothing after the options",
                        "okosu-run [LEVER...] [OPTION...] -- PROGRAM [ARG...]");
    return 0;
}

int okosu_options_read(struct okosu_options *options, struct okosu_arena *arena, int argc,
                       char **argv)
{
    int at = 1;

    *options = (struct okosu_options){.children = -1};
    options->variables = okosu_arena_alloc(arena, (size_t)argc * sizeof(*options->variables));
    if (!options->variables)
        return complain(arena, "no memory", NULL, NULL);
    for (; at < argc; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strncmp(argv[at], "--", 2) != 0) {
            if (argv[at][0] == '-' && argv[at][1])
                return complain(arena, okosu_arena_printf(arena, "there is no option %s", argv[at]),
                                "options are words after two dashes", "see okosu-run --help");
            break;
        }
        if (read_option(options, arena, argv[at] + 2))
            return -EINVAL;
    }
    for (int i = 1; i < at; i++) {
        if (strncmp(argv[i], "--skip=", 7) != 0)
            continue;
        for (size_t lever = 0; okosu_lever_table[lever]; lever++) {
            if (strcmp(okosu_lever_table[lever]->name, argv[i] + 7) == 0)
                options->values[lever] = NULL;
        }
    }
    options->program = argv + at;
    return check(options, arena);
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
    for (size_t i = 0; i < ROWS; i++) {
        char name[40];

        snprintf(name, sizeof(name), "--%s%s%s", rows[i].name, rows[i].parameter ? "=" : "",
                 rows[i].parameter ? rows[i].parameter : "");
        printf("  %-20s %s\n", name, rows[i].doc);
    }
    fputs("\nExit status: the program's own; 125 okosu-run failed, 126 not executable, 127 not "
          "found.\n",
          stdout);
}
