/* SPDX-License-Identifier: Apache-2.0 */
/* Dependent loads in random order over a table: one cycle through all its cache lines, each of
 * which holds the number of the next. Nothing can be fetched ahead, so every load waits for its
 * translation and its line. */
#include "args.h"
#include "random.h"

static const char usage[] =
    "usage: chase [-v] SIZE [LOADS]\n"
    "Follows a random cycle through a table of SIZE bytes for LOADS dependent loads (default "
    "12M).\n"
    "  SIZE   128 to 256G; K, M, G = 2^10, 2^20, 2^30\n"
    "  LOADS  1 to 1000G; K, M, G = 10^3, 10^6, 10^9\n"
    "  -v     million loads per second on stderr, without the building of the table\n";

struct line {
    uint64_t next;
    uint64_t unused[7];
};

struct cycle {
    uint64_t lines;
    uint64_t mask;
    unsigned half;
};

static struct cycle cycle_of(uint64_t lines)
{
    unsigned bits = 64 - (unsigned)__builtin_clzll(lines - 1);

    return (struct cycle){
        .lines = lines, .mask = (UINT64_C(1) << bits) - 1, .half = (bits + 1) / 2};
}

/* A congruential step modulo a power of two is one cycle; folding the high bits, which are random,
 * over the low ones before and after (a fold is its own inverse) keeps it one and hides its
 * short-period low bits. Steps that leave the table are taken again, which cuts their stretch out
 * of the cycle. So a table is built in the order of its addresses, at the speed of memory, and the
 * cycle known without it. */
static uint64_t successor(const struct cycle *cycle, uint64_t at)
{
    do {
        at ^= at >> cycle->half;
        at = lcg_step(at) & cycle->mask;
        at ^= at >> cycle->half;
    } while (at >= cycle->lines);
    return at;
}

__attribute__((noinline)) static uint64_t chase(const struct line *table, uint64_t loads,
                                                uint64_t *sum)
{
    uint64_t at = 0, total = 0;

    for (uint64_t load = 0; load < loads; load++) {
        at = table[at].next;
        total += at;
    }
    *sum = total;
    return at;
}

int main(int argc, char **argv)
{
    struct args args = args_parse(argc, argv, "chase", usage, 1, 2);
    uint64_t size = args_number(&args, 0, "SIZE", ARGS_SIZE, 128, UINT64_C(256) << 30, 0);
    uint64_t loads =
        args_number(&args, 1, "LOADS", ARGS_COUNT, 1, UINT64_C(1000000000000), 3000000);
    struct cycle cycle = cycle_of(size / sizeof(struct line));
    struct line *table = args_keep(&args, (size_t)(cycle.lines * sizeof(struct line)));
    uint64_t last, sum, expected_last = 0, expected_sum = 0;
    double start;

    for (uint64_t at = 0; at < cycle.lines; at++)
        table[at].next = successor(&cycle, at);

    start = args_seconds();
    last = chase(table, loads, &sum);
    args_rate(&args, 1e-6 * (double)loads, "Mloads", start);

    for (uint64_t load = 0; load < loads; load++) {
        expected_last = successor(&cycle, expected_last);
        expected_sum += expected_last;
    }
    printf("chase: %" PRIu64 " lines, %" PRIu64 " loads, last line %" PRIu64 ", sum %" PRIu64 "\n",
           cycle.lines, loads, last, sum);
    return args_finish(&args, last == expected_last && sum == expected_sum);
}
