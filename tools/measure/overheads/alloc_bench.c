/* SPDX-License-Identifier: Apache-2.0 */
/* What a hook costs: nanoseconds of a malloc + free in three loops. Run it with and without the
 * preload library in turn: `alloc_bench small|random|blocks`. Prints one number, the best of
 * several repetitions, for what disturbs a loop only ever makes it longer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVE 256

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void *volatile sink;

static double loop_small(void)
{
    enum { COUNT = 5000000 };
    double start = now();
    int i;

    for (i = 0; i < COUNT; i++) {
        sink = malloc(64);
        free(sink);
    }
    return (now() - start) / COUNT;
}

static double loop_random(void)
{
    enum { COUNT = 2000000 };
    static void *live[LIVE];
    uint32_t state = 1;
    double start;
    int i;

    start = now();
    for (i = 0; i < COUNT; i++) {
        uint32_t r = next_random(&state);

        free(live[r % LIVE]);
        live[r % LIVE] = malloc(16 + (r >> 8) % 4081);
    }
    return (now() - start) / COUNT;
}

static double loop_blocks(void)
{
    enum { COUNT = 12 };
    uint32_t state = 1;
    double start = now();
    int i;

    for (i = 0; i < COUNT; i++) {
        size_t size = ((size_t)4 << 20) + next_random(&state) % (60u << 20);
        char *p = malloc(size);

        if (!p)
            return -1;
        memset(p, i, size);
        sink = p;
        __asm__ volatile("" ::: "memory"); /* or the fill of a block that is freed is left out */
        free(p);
    }
    return (now() - start) / COUNT;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(void);
    } loops[] = {{"small", loop_small}, {"random", loop_random}, {"blocks", loop_blocks}};
    double best = 0, t;
    size_t i;
    int k;

    for (i = 0; argc == 2 && i < sizeof loops / sizeof *loops; i++) {
        if (strcmp(argv[1], loops[i].name) != 0)
            continue;
        for (k = 0; k < 5; k++) {
            t = loops[i].run();
            best = k && best < t ? best : t;
        }
        printf("%.2f\n", best);
        return 0;
    }
    fprintf(stderr, "usage: alloc_bench small|random|blocks\n");
    return 2;
}
