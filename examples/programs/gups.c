/* SPDX-License-Identifier: Apache-2.0 */
/* Independent read-modify-write updates at random places of a table, as in the HPC Challenge. Few
 * updates: the first touch of the table dominates. Many: how many misses the processor overlaps. */
#include "args.h"
#include "random.h"

static const char usage[] =
    "usage: gups [-v] SIZE [UPDATES]\n"
    "Makes UPDATES random xor updates (default 20M) to a table of SIZE bytes.\n"
    "  SIZE     8 to 256G; K, M, G = 2^10, 2^20, 2^30\n"
    "  UPDATES  1 to 1000G; K, M, G = 10^3, 10^6, 10^9\n"
    "  -v       million updates per second on stderr, without the filling of the table\n";

static const uint64_t seed = 2003;

static uint64_t rotate(uint64_t value, uint64_t by)
{
    return value << (by % 64) | value >> (-by % 64);
}

__attribute__((noinline)) static void update(uint64_t *table, uint64_t entries, uint64_t updates)
{
    for (uint64_t n = 0; n < updates; n++) {
        uint64_t random = random_at(seed, n);

        table[random_below(random, entries)] ^= random;
    }
}

int main(int argc, char **argv)
{
    struct args args = args_parse(argc, argv, "gups", usage, 1, 2);
    uint64_t size = args_number(&args, 0, "SIZE", ARGS_SIZE, 8, UINT64_C(256) << 30, 0);
    uint64_t updates =
        args_number(&args, 1, "UPDATES", ARGS_COUNT, 1, UINT64_C(1000000000000), 20000000);
    uint64_t entries = size / sizeof(uint64_t);
    uint64_t *table = args_keep(&args, (size_t)(entries * sizeof(uint64_t)));
    uint64_t checksum = 0, expected = 0;
    double start;

    for (uint64_t at = 0; at < entries; at++)
        table[at] = at;

    start = args_seconds();
    update(table, entries, updates);
    args_rate(&args, 1e-6 * (double)updates, "Mupdates", start);

    /* xor is linear, so the checksum of the table is that of its first contents and of all updates;
     * turning each entry by its place makes it notice an update that went to a wrong one. */
    for (uint64_t at = 0; at < entries; at++) {
        checksum ^= rotate(table[at], at);
        expected ^= rotate(at, at);
    }
    for (uint64_t n = 0; n < updates; n++) {
        uint64_t random = random_at(seed, n);

        expected ^= rotate(random, random_below(random, entries));
    }
    printf("gups: %" PRIu64 " entries, %" PRIu64 " updates, checksum %016" PRIx64 "\n", entries,
           updates, checksum);
    return args_finish(&args, checksum == expected);
}
