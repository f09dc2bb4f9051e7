/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds the parser of a benchmark's arguments with random ones, made of the pieces that real ones
 * have, under the sanitizers. usage: bench-fuzz [COUNT [SEED]]; aborts on the first violated
 * property.
 */
#include "harness_internal.h"

#include "base/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *const pieces[] = {
    "--rounds",  "--cpu",
    "--seed",    "--smoke",
    "--only",    "--variant",
    "--sizes",   "--peers",
    "--points",  "--points=sum/1/hot/0/8",
    "--list",    "--help",
    "--",        "-",
    "=",         ",",
    "0",         "1",
    "17",        "99999999999999999999",
    "-1",        "+1",
    " 1",        "0x10",
    "1e3",       "sum",
    "dot",       "sum,dot",
    "sum,",      ",,",
    "\xff\xfe",  "%s%n",
    "--only=",   "--sizes=1,2,3",
    "--smoke=1", "",
    "a/b",       "--rounds=",
};

static const struct bench_routine routines[] = {{"sum", 8, 1, "element", "a sum"},
                                                {"dot", 16, 2, "element", "a product"},
                                                {NULL, 0, 0, NULL, NULL}};
static const struct bench_program program = {.name = "fuzz", .doc = "x", .routines = routines};

static void check(const struct bench_options *options)
{
    require(options->rounds >= 1 && options->rounds <= BENCH_ROUNDS_LIMIT, "rounds out of range");
    require(options->cpu >= -1 && options->cpu < 8192, "cpu out of range");
    for (size_t i = 0; i < options->size_count; i++)
        require(options->sizes[i] >= 1, "a size of zero");
    for (size_t i = 0; i < options->only.count; i++)
        require(strcmp(options->only.names[i], "sum") == 0 ||
                    strcmp(options->only.names[i], "dot") == 0,
                "a routine that is in no table");
    for (size_t i = 0; i < options->variant.count; i++)
        require(options->variant.names[i][0] != '\0', "an empty name");
    for (size_t i = 0; i < options->points.count; i++)
        require(options->points.names[i][0] != '\0', "an empty point");
    for (size_t i = 0; options->peers[i]; i++)
        require(options->peers[i][0] != '\0', "an empty directory");
}

/* Each argument in a block of its exact size, so that a read past its end is seen. */
static char *make(void)
{
    char text[256] = "";
    size_t parts = 1 + next_random(3);

    for (size_t i = 0; i < parts; i++)
        strcat(text, pieces[next_random(sizeof(pieces) / sizeof(pieces[0]))]);
    return strdup(text);
}

int main(int argc, char **argv)
{
    size_t count = fuzz_begin("bench-fuzz", argc, argv, 20000), accepted = 0;
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);

    /* The messages are the parser's business, and there are thousands. */
    if (quiet < 0 || dup2(quiet, STDERR_FILENO) < 0)
        return 1;
    for (size_t i = 0; i < count; i++) {
        char *arguments[8] = {"fuzz"};
        int given = 1 + (int)next_random(6), rc;
        struct bench_options options;

        for (int k = 1; k < given; k++)
            arguments[k] = make();
        rc = bench_options_read(&options, given, arguments, &program);
        require(rc == 0 || rc == -EINVAL, "an error that is not EINVAL");
        if (rc == 0) {
            check(&options);
            bench_options_drop(&options);
            accepted++;
        }
        for (int k = 1; k < given; k++)
            free(arguments[k]);
    }
    printf("%zu argument lists, %zu accepted\n", count, accepted);
    require(accepted > 0 && accepted < count, "every list ends alike");
    return 0;
}
