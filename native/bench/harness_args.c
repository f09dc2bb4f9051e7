/* SPDX-License-Identifier: Apache-2.0 */
/* Harness, arguments: strict, since a mistyped size or routine would be a silent hole in a table. */
#include "harness_internal.h"

#include "base/message.h"
#include "base/option.h"

#include <okosu/cpulist.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Cuts a copy of the text at its commas: argv is what `ps` shows. */
static const char *set_names(void *field, const char *value)
{
    struct bench_names *names = field;
    char *rest;

    free(names->text);
    *names = (struct bench_names){.text = strdup(value)};
    rest = names->text;
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        if (*name == '\0')
            return "a name in the list is empty";
        if (names->count == BENCH_NAMES_LIMIT)
            return "the list is too long";
        names->names[names->count++] = name;
    }
    return names->text ? NULL : "out of memory";
}

static const char *set_sizes(void *field, const char *value)
{
    struct bench_options *options = field;
    struct bench_names items = {.text = NULL};
    const char *wrong = set_names(&items, value);

    options->size_count = 0;
    for (size_t i = 0; i < items.count && !wrong; i++) {
        uint64_t size;

        if (options->size_count == BENCH_SIZES_LIMIT)
            wrong = "the list is too long";
        else if (!okosu_option_number(items.names[i], &size) || !size || size >> 40)
            wrong = "a size is a whole number from 1, below 2^40";
        else
            options->sizes[options->size_count++] = (size_t)size;
    }
    free(items.text);
    return wrong;
}

static const char *set_peers(void *field, const char *value)
{
    struct bench_options *options = field;
    size_t count = 0;

    if (*value == '\0')
        return "the name of the directory is empty";
    while (options->peers[count])
        count++;
    if (count == BENCH_PEERS_LIMIT)
        return "there are too many directories";
    options->peers[count] = value;
    return NULL;
}

#define SWITCH(field) OKOSU_SWITCH(struct bench_options, field)
#define NUMBER(field, least, most) OKOSU_NUMBER(struct bench_options, field, least, most)
#define NAMES(field) OKOSU_SET(struct bench_options, field, set_names)

static const struct okosu_option rows[] = {
    {"rounds", "N", "rounds, each of which runs every row once (default 11)",
     NUMBER(rounds, 1, BENCH_ROUNDS_LIMIT)},
    {"seconds", "N", "with --points: fewer rounds, but three, where all would take longer",
     NUMBER(seconds, 1, 1000000)},
    {"cpu", "N", "the CPU to measure on (default: the last that is allowed)",
     NUMBER(cpu, 0, OKOSU_CPU_LIMIT - 1)},
    {"seed", "N", "of the order of rows in each round, and of drawn sizes (default 1)",
     NUMBER(seed, 0, UINT64_MAX)},
    {"smoke", NULL, "2 rounds of short batches at a few sizes: does it work?", SWITCH(smoke)},
    {"only", "ROUTINE,...", "these routines alone (and the limits)", NAMES(only)},
    {"variant", "NAME,...", "these variants alone (and the limits)", NAMES(variant)},
    {"sizes", "N,...", "these sizes instead of the program's own", OKOSU_SET_ANY(set_sizes)},
    {"points", "ROUTINE/N/MODE/A/B,...", "these points alone; A and B: the offsets in \"align\"",
     NAMES(points)},
    {"core-loads", "N", "loads in 100 cycles of a core of one's own, as another process found",
     NUMBER(core_loads, 1, 10000)},
    {"peers", "DIR", "a directory of libraries to compare with (may be repeated)",
     OKOSU_SET_ANY(set_peers)},
    {"list", NULL, "print the routines and the variants, and run nothing", SWITCH(list)},
    {"help", NULL, "this text", SWITCH(help)},
    {.name = NULL},
};

void bench_options_help(FILE *out, const struct bench_program *program)
{
    fprintf(out, "usage: okosu-bench-%s [OPTION...]\n%s\n\n", program->name, program->doc);
    okosu_option_help(out, rows);
    fprintf(out, "\nJSON lines on stdout: header, row, absent, note.\n");
}

static int check_routines(const struct bench_names *only, const struct bench_program *program)
{
    const char *known[BENCH_NAMES_LIMIT];
    size_t count = 0;

    for (; count < BENCH_NAMES_LIMIT && program->routines[count].name; count++)
        known[count] = program->routines[count].name;
    for (size_t i = 0; i < only->count; i++) {
        bool found = false;
        char why[160];
        const char *nearest;

        for (size_t k = 0; k < count; k++)
            found |= strcmp(only->names[i], known[k]) == 0;
        if (found)
            continue;
        nearest = okosu_message_nearest(only->names[i], known, count);
        snprintf(why, sizeof(why), "%s has no such routine%s%s", program->name,
                 nearest ? "; the nearest is " : "", nearest ? nearest : "");
        return okosu_complain(-EINVAL, why, "--list names the routines", "--only=%s not accepted",
                              only->names[i]);
    }
    return 0;
}

int bench_options_read(struct bench_options *options, int argc, char **argv,
                       const struct bench_program *program)
{
    int error = 0;

    *options = (struct bench_options){.rounds = 0, .cpu = -1, .seed = 1};
    for (int i = 1, used; i < argc && error == 0; i += used) {
        used = okosu_option_read(rows, NULL, options, argv + i);
        error = used < 0 ? used : 0;
    }
    if (error == 0)
        error = check_routines(&options->only, program);
    if (options->rounds == 0)
        options->rounds = options->smoke ? 2 : 11;
    if (error < 0)
        bench_options_drop(options);
    return error;
}

void bench_options_drop(struct bench_options *options)
{
    free(options->only.text);
    free(options->variant.text);
    free(options->points.text);
    options->only.text = options->variant.text = options->points.text = NULL;
}
