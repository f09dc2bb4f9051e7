/* SPDX-License-Identifier: Apache-2.0 */
/* tree LEVELS WORK: an unbalanced tree of threads as in Fibonacci's sequence: a node of level n
 * has children of levels n - 1 and n - 2, runs the smaller one itself and joins the other. Where
 * no thread can be made, the node does both itself. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_LEVELS = 30 };

static unsigned work;

static uint32_t labour(uint32_t value)
{
    for (unsigned step = 0; step < work; step++)
        value = value * 1664525 + 1013904223;
    return value;
}

static void *node(void *argument)
{
    unsigned level = (unsigned)(uintptr_t)argument;
    uint32_t sum = labour(level);
    pthread_t child;
    void *value;

    if (level < 2)
        return (void *)(uintptr_t)sum;
    if (pthread_create(&child, NULL, node, (void *)(uintptr_t)(level - 1)) == 0) {
        sum += (uint32_t)(uintptr_t)node((void *)(uintptr_t)(level - 2));
        pthread_join(child, &value);
        return (void *)(uintptr_t)(sum + (uint32_t)(uintptr_t)value);
    }
    sum += (uint32_t)(uintptr_t)node((void *)(uintptr_t)(level - 2));
    return (void *)(uintptr_t)(sum + (uint32_t)(uintptr_t)node((void *)(uintptr_t)(level - 1)));
}

int main(int argc, char **argv)
{
    unsigned levels = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8;
    uint32_t expected[MOST_LEVELS + 1], sum;

    work = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 100;
    if (levels > MOST_LEVELS) {
        fprintf(stderr, "usage: tree [LEVELS up to %d [WORK]]\n", MOST_LEVELS);
        return 2;
    }
    for (unsigned level = 0; level <= levels; level++) {
        expected[level] = labour(level);
        if (level >= 2)
            expected[level] += expected[level - 1] + expected[level - 2];
    }
    sum = (uint32_t)(uintptr_t)node((void *)(uintptr_t)levels);
    printf("tree: %u levels, %u steps a node, sum %08x\n%s\n", levels, work, sum,
           sum == expected[levels] ? "ok" : "WRONG");
    return sum != expected[levels];
}
