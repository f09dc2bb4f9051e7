/* SPDX-License-Identifier: Apache-2.0 */
/* Harness, arguments: strict, since a mistyped size or routine would be a silent hole in a table. */
#include "harness_internal.h"

#include "base/message.h"

#include <okosu/cpulist.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *value, *doc;
} options_table[] = {
    {"rounds", "N", "rounds, each of which runs every row once (default 11)"},
    {"cpu", "N", "the CPU to measure on (default: the last that is allowed)"},
    {"seed", "N", "of the order of rows in each round, and of drawn sizes (default 1)"},
    {"smoke", NULL, "2 rounds of short batches at a few sizes: does it work?"},
    {"only", "ROUTINE,...", "these routines alone (and the limits)"},
    {"variant", "NAME,...", "these variants alone (and the limits)"},
    {"sizes", "N,...", "these sizes instead of the program's own"},
    {"points", "ROUTINE/N/MODE/A/B,...", "these points alone; A and B: the offsets in \"align\""},
    {"peers", "DIR", "a directory of libraries to compare with (may be repeated)"},
    {"list", NULL, "print the routines and the variants, and run nothing"},
    {"help", NULL, "this text"},
};
#define OPTION_COUNT (sizeof(options_table) / sizeof(options_table[0]))

void bench_options_help(FILE *out, const struct bench_program *program)
{
    fprintf(out, "usage: okosu-bench-%s [OPTION...]\n%s\n\n", program->name, program->doc);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *value = options_table[i].value;
        int width =
            fprintf(out, "  --%s%s%s", options_table[i].name, value ? " " : "", value ? value : "");

        fprintf(out, "%*s%s\n", width < 24 ? 24 - width : 1, "", options_table[i].doc);
    }
    fprintf(out, "\nJSON lines on stdout: header, row, absent, note.\n");
}

static int refuse(const char *option, const char *value, const char *why, const char *fix)
{
    char what[256];

    snprintf(what, sizeof(what), value ? "--%s: \"%s\" not accepted" : "%s%s", option,
             value ? value : "");
    okosu_message(what, why, fix);
    return -EINVAL;
}

/* Decimal digits alone: strtoull would take signs, spaces and a hexadecimal's prefix. */
static bool parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
    uint64_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)(*text - '0');

        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *number = value;
    return value >= low && value <= high;
}

static int read_number(const char *option, const char *text, uint64_t low, uint64_t high,
                       uint64_t *number)
{
    char why[80];

    if (parse_number(text, low, high, number))
        return 0;
    snprintf(why, sizeof(why), "it is no whole number from %llu to %llu", (unsigned long long)low,
             (unsigned long long)high);
    return refuse(option, text, why, NULL);
}

/* Cut the text at its commas, in place. */
static int read_names(const char *option, char *text, struct bench_names *names)
{
    char *rest = text;

    names->count = 0;
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        if (*name == '\0')
            return refuse(option, text, "a name in the list is empty", NULL);
        if (names->count == BENCH_NAMES_LIMIT)
            return refuse(option, text, "the list is too long", NULL);
        names->names[names->count++] = name;
    }
    return 0;
}

static int read_sizes(char *text, struct bench_options *options)
{
    char *rest = text;

    options->size_count = 0;
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        uint64_t number;
        int error;

        if (options->size_count == BENCH_SIZES_LIMIT)
            return refuse("sizes", text, "the list is too long", NULL);
        error = read_number("sizes", item, 1, (uint64_t)1 << 40, &number);
        if (error < 0)
            return error;
        options->sizes[options->size_count++] = (size_t)number;
    }
    return 0;
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
        return refuse("only", only->names[i], why, "--list names the routines");
    }
    return 0;
}

static int apply(struct bench_options *options, const char *name, char *value)
{
    uint64_t number = 0;
    int error = 0;

    if (strcmp(name, "rounds") == 0) {
        error = read_number(name, value, 1, BENCH_ROUNDS_LIMIT, &number);
        options->rounds = (unsigned)number;
    } else if (strcmp(name, "cpu") == 0) {
        error = read_number(name, value, 0, OKOSU_CPU_LIMIT - 1, &number);
        options->cpu = (int)number;
    } else if (strcmp(name, "seed") == 0) {
        error = read_number(name, value, 0, UINT64_MAX, &options->seed);
    } else if (strcmp(name, "smoke") == 0) {
        options->smoke = true;
    } else if (strcmp(name, "list") == 0) {
        options->list = true;
    } else if (strcmp(name, "help") == 0) {
        options->help = true;
    } else if (strcmp(name, "only") == 0) {
        error = read_names(name, value, &options->only);
    } else if (strcmp(name, "variant") == 0) {
        error = read_names(name, value, &options->variant);
    } else if (strcmp(name, "points") == 0) {
        error = read_names(name, value, &options->points);
    } else if (strcmp(name, "sizes") == 0) {
        error = read_sizes(value, options);
    } else if (*value == '\0') {
        error = refuse(name, value, "the name of the directory is empty", NULL);
    } else {
        size_t count = 0;

        while (options->peers[count])
            count++;
        if (count == BENCH_PEERS_LIMIT)
            return refuse(name, value, "there are too many directories", NULL);
        options->peers[count] = value;
    }
    return error;
}

static int unknown(const char *text)
{
    const char *known[OPTION_COUNT];
    const char *nearest;
    char what[160], why[160];

    for (size_t i = 0; i < OPTION_COUNT; i++)
        known[i] = options_table[i].name;
    nearest = okosu_message_nearest(text + strspn(text, "-"), known, OPTION_COUNT);
    snprintf(what, sizeof(what), "\"%s\" is no option", text);
    snprintf(why, sizeof(why), "the nearest is --%s", nearest ? nearest : "");
    okosu_message(what, nearest ? why : NULL, "--help names the options");
    return -EINVAL;
}

/* "--name value" or "--name=value"; *at moves over what was used. */
static int read_one(struct bench_options *options, char **at)
{
    char *text = *at, *value = NULL;
    size_t length = strncmp(text, "--", 2) == 0 ? strcspn(text + 2, "=") : 0;
    size_t i = 0;

    while (i < OPTION_COUNT && !(strlen(options_table[i].name) == length &&
                                 memcmp(options_table[i].name, text + 2, length) == 0))
        i++;
    if (length == 0 || i == OPTION_COUNT)
        return unknown(text);
    *at += strlen(text) + 1;
    if (text[2 + length] == '=') {
        value = text + 2 + length + 1;
        if (options_table[i].value == NULL)
            return refuse(options_table[i].name, value, "the option takes no value", NULL);
    } else if (options_table[i].value) {
        /* The arguments end with an empty string too many, which stands for "no more". */
        value = *at;
        if (*value == '\0')
            return refuse(options_table[i].name, value, "the option needs a value", NULL);
        *at += strlen(value) + 1;
    }
    return apply(options, options_table[i].name, value);
}

int bench_options_read(struct bench_options *options, int argc, char **argv,
                       const struct bench_program *program)
{
    size_t bytes = 1;
    char *at, *end;
    int error = 0;

    *options = (struct bench_options){.rounds = 0, .cpu = -1, .seed = 1};
    for (int i = 1; i < argc; i++)
        bytes += strlen(argv[i]) + 1;
    /* Lists are cut in place, and argv is what `ps` shows. */
    at = options->text = calloc(bytes, 1);
    if (at == NULL) {
        okosu_message("out of memory", NULL, NULL);
        return -ENOMEM;
    }
    end = at;
    for (int i = 1; i < argc; i++)
        end = stpcpy(end, argv[i]) + 1;
    while (at < end && error == 0)
        error = read_one(options, &at);
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
    free(options->text);
    options->text = NULL;
}
