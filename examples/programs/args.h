/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples share: strict arguments, memory or a message, a clock for -v, and the exit
 * status. 0: the result was right; 1: it was wrong or could not be computed; 2: the arguments were.
 */
#ifndef EXAMPLES_ARGS_H
#define EXAMPLES_ARGS_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Stands for what K multiplies by: counts are decimal, sizes binary, and PLAIN numbers take no
 * suffix. */
enum args_unit { ARGS_PLAIN = 1, ARGS_COUNT = 1000, ARGS_SIZE = 1024 };

struct args {
    const char *name;
    const char *usage;
    char **words;
    int words_n;
    bool verbose;
};

static inline _Noreturn void args_fail(const struct args *args, const char *what, const char *word)
{
    fprintf(stderr, "%s: %s%s%s\n%s", args->name, what, *word ? ": " : "", word, args->usage);
    exit(2);
}

/* Take -h and -v wherever they stand before a "--"; leave least to most operands in args->words. */
static inline struct args args_parse(int argc, char **argv, const char *name, const char *usage,
                                     int least, int most)
{
    struct args args = {.name = name, .usage = usage, .words = argv};
    bool options = true;

    for (int at = 1; at < argc; at++) {
        if (!options || argv[at][0] != '-') {
            args.words[args.words_n++] = argv[at];
        } else if (strcmp(argv[at], "--") == 0) {
            options = false;
        } else if (strcmp(argv[at], "-h") == 0 || strcmp(argv[at], "--help") == 0) {
            fputs(usage, stdout);
            exit(fflush(stdout) == 0 ? 0 : 1);
        } else if (strcmp(argv[at], "-v") == 0) {
            args.verbose = true;
        } else {
            args_fail(&args, "unknown option (-v and -h are allowed)", argv[at]);
        }
    }
    if (args.words_n < least)
        args_fail(&args, "an argument is missing", "");
    if (args.words_n > most)
        args_fail(&args, "one argument too many", args.words[most]);
    return args;
}

/* Read operand `at`: digits with at most one suffix K, M or G; `otherwise` if it is absent. */
static inline uint64_t args_number(const struct args *args, int at, const char *what,
                                   enum args_unit unit, uint64_t min, uint64_t max,
                                   uint64_t otherwise)
{
    static const char suffixes[] = "KMG";
    const char *word, *digit;
    uint64_t value = 0;
    bool ok;

    if (at >= args->words_n)
        return otherwise;
    word = args->words[at];
    for (digit = word; *digit >= '0' && *digit <= '9'; digit++)
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*digit - '0'), &value))
            break;
    ok = digit != word;
    if (ok && unit != ARGS_PLAIN && *digit != '\0') {
        const char *suffix = strchr(suffixes, *digit & ~0x20);

        if (suffix != NULL && *suffix != '\0') {
            for (const char *power = suffixes; ok && power <= suffix; power++)
                ok = !__builtin_mul_overflow(value, (uint64_t)unit, &value);
            digit++;
        }
    }
    if (!ok || *digit != '\0' || value < min || value > max) {
        char message[160];

        snprintf(message, sizeof(message), "%s must be a number from %" PRIu64 " to %" PRIu64 "%s",
                 what, min, max, unit == ARGS_PLAIN ? "" : ", a suffix K, M or G is allowed");
        args_fail(args, message, word);
    }
    return value;
}

/* malloc, so that whatever changes the allocator reaches every byte that the examples use. */
static inline void *args_alloc(const struct args *args, size_t size)
{
    void *memory = malloc(size);

    if (memory == NULL) {
        fprintf(stderr, "%s: cannot allocate %zu bytes: %s\n", args->name, size, strerror(errno));
        exit(1);
    }
    return memory;
}

/* The same by calloc. */
static inline void *args_zeroed(const struct args *args, size_t size)
{
    void *memory = calloc(size, 1);

    if (memory == NULL) {
        fprintf(stderr, "%s: cannot allocate %zu bytes: %s\n", args->name, size, strerror(errno));
        exit(1);
    }
    return memory;
}

/* args_alloc for what lives to the end of the process, as it does in most programs: kept (four at
 * most) where leak checkers see it. */
static inline void *args_keep(const struct args *args, size_t size)
{
    static void *kept[4];
    static int kept_n;

    return kept[kept_n++ % 4] = args_alloc(args, size);
}

static inline double args_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* With -v, a rate on stderr: stdout holds nothing that changes from run to run. */
static inline void args_rate(const struct args *args, double amount, const char *unit, double start)
{
    if (args->verbose)
        fprintf(stderr, "%s: %.2f %s/s\n", args->name, amount / (args_seconds() - start), unit);
}

/* Stop the compiler from merging what is done before with what is done after. */
static inline void args_barrier(const void *memory)
{
    __asm__ volatile("" : : "r"(memory) : "memory");
}

/* Return the exit status for a result that was `right`, or could not even be written. */
static inline int args_finish(const struct args *args, bool right)
{
    puts(right ? "ok" : "WRONG");
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "%s: cannot write the result: %s\n", args->name, strerror(errno));
        return 1;
    }
    if (!right)
        fprintf(stderr, "%s: the result is wrong\n", args->name);
    return right ? 0 : 1;
}

#endif
