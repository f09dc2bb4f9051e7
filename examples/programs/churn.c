/* SPDX-License-Identifier: Apache-2.0 */
/* Large blocks that come and go, as the temporaries of an array program do: a few live at a time,
 * each filled once, looked at once and freed. The time is in getting memory from the system again
 * and again. With calloc, which must hand out zeros, only clearing ahead can save any of it. */
#include "args.h"
#include "random.h"

static const char usage[] =
    "usage: churn [-v] [ROUNDS] [SEED] [malloc|calloc]\n"
    "Frees, allocates and fills a block of 4 to 64 MiB, ROUNDS times (default 100), 4 blocks "
    "live.\n"
    "  ROUNDS  1 to 1G; K, M, G = 10^3, 10^6, 10^9\n"
    "  SEED    0 to 1G, suffixes alike (default 1): which sizes in which order\n"
    "  calloc  blocks come zeroed, and that is looked at; default malloc\n"
    "  -v      megabytes filled per second on stderr\n";

enum { LIVE = 4, STEP = 64 << 10, PAGE = 4096 };
static const uint64_t steps_min = 64, steps_max = 1024;

struct block {
    unsigned char *data;
    size_t size;
    unsigned char fill;
};

/* Sum one byte of each page, at another place in each: a block that lost a page would give another
 * sum. */
static uint64_t sum_pages(const struct block *block)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < block->size; at += PAGE)
        sum += block->data[at + at / PAGE % PAGE];
    return sum;
}

static bool wants_zeros(const struct args *args)
{
    const char *word = args->words_n > 2 ? args->words[2] : "malloc";

    if (strcmp(word, "malloc") != 0 && strcmp(word, "calloc") != 0)
        args_fail(args, "the third operand is malloc or calloc", word);
    return *word == 'c';
}

int main(int argc, char **argv)
{
    /* Static, so that what is live at the end can stay so, as in most programs, and is no leak. */
    static struct block blocks[LIVE];
    struct args args = args_parse(argc, argv, "churn", usage, 0, 3);
    uint64_t rounds = args_number(&args, 0, "ROUNDS", ARGS_COUNT, 1, UINT64_C(1000000000), 100);
    uint64_t seed = args_number(&args, 1, "SEED", ARGS_COUNT, 0, UINT64_C(1000000000), 1);
    uint64_t filled = 0, sum = 0, expected = 0;
    bool zeros = wants_zeros(&args);
    double start = args_seconds();

    for (uint64_t round = 0; round < rounds; round++) {
        uint64_t random = random_at(seed, round);
        struct block *block = &blocks[round % LIVE];

        sum += sum_pages(block);
        free(block->data);
        block->size = STEP * (steps_min + random_below(random, steps_max - steps_min + 1));
        block->fill = (unsigned char)random;
        block->data = zeros ? args_zeroed(&args, block->size) : args_alloc(&args, block->size);
        /* Zeros add nothing. */
        sum += zeros ? sum_pages(block) : 0;
        memset(block->data, block->fill, block->size);
        filled += block->size;
        expected += block->fill * (uint64_t)(block->size / PAGE);
    }
    for (int live = 0; live < LIVE; live++)
        sum += sum_pages(&blocks[live]);
    args_rate(&args, 1e-6 * (double)filled, "MB", start);
    printf("churn: %" PRIu64 " blocks, %" PRIu64 " bytes, sum of a byte a page %" PRIu64 "\n",
           rounds, filled, sum);
    return args_finish(&args, sum == expected);
}
