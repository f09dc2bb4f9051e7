/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that are handed on: each is copied from one buffer to the next and back, as between the
 * layers of a server or a library. All of it stays in the first caches; the time is in memcpy. */
#include "args.h"
#include "random.h"

static const char usage[] =
    "usage: relay [-v] [MESSAGES] [SEED]\n"
    "Copies MESSAGES messages (default 4M) of 4 to 16 KiB to another buffer and back.\n"
    "  MESSAGES  1 to 1G; K, M, G = 10^3, 10^6, 10^9\n"
    "  SEED      0 to 1G, suffixes alike (default 1): their sizes\n"
    "  -v        gigabytes copied per second on stderr\n";

static const uint64_t shortest = 4 << 10, longest = 16 << 10;

int main(int argc, char **argv)
{
    struct args args = args_parse(argc, argv, "relay", usage, 0, 2);
    uint64_t messages =
        args_number(&args, 0, "MESSAGES", ARGS_COUNT, 1, UINT64_C(1000000000), 4000000);
    uint64_t seed = args_number(&args, 1, "SEED", ARGS_COUNT, 0, UINT64_C(1000000000), 1);
    uint64_t copied = 0, sum = 0, expected = 0;
    unsigned char *here = args_alloc(&args, longest), *there = args_alloc(&args, longest);
    double start;

    memset(here, 0, longest);
    start = args_seconds();
    for (uint64_t message = 0; message < messages; message++) {
        uint64_t random = random_at(seed, message);
        uint64_t size = shortest + random_below(random, longest - shortest + 1);
        uint64_t at = (random >> 8) % size;

        here[at] = (unsigned char)random;
        memcpy(there, here, size);
        /* Only what was copied twice comes back. */
        here[at] = 0;
        memcpy(here, there, size);
        sum += here[at];
        expected += random & 255;
        copied += 2 * size;
    }
    args_rate(&args, 1e-9 * (double)copied, "GB", start);
    printf("relay: %" PRIu64 " messages, %" PRIu64 " bytes copied, sum of a byte each %" PRIu64
           "\n",
           messages, copied, sum);
    free(here);
    free(there);
    return args_finish(&args, sum == expected);
}
