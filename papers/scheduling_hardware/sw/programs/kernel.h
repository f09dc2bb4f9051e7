/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels share: a team of threads that divides a computation, and how long it took. They
 * run on Linux, too, and what they compute is the same there, bit by bit. */
#ifndef KERNEL_H
#define KERNEL_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __linux__
#include <time.h>
#else
#include "machine.h"
#endif

enum { MOST_MEMBERS = 200 };

/* How many threads a team has, and where they wait for each other. */
static unsigned members;
static pthread_barrier_t meeting;

/* Cycles of the machine; nanoseconds on Linux. */
static inline uint64_t ticks(void)
{
#ifdef __linux__
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#else
    return COP2_READ(10);
#endif
}

/* Have `work` done by all members, each of which gets its number; return the time from the first
 * creation to the last join. */
static inline unsigned long long team(void *(*work)(void *))
{
    pthread_t ids[MOST_MEMBERS];
    uint64_t start;

    if (pthread_barrier_init(&meeting, NULL, members) != 0) {
        fprintf(stderr, "no barrier for %u threads can be made\n", members);
        exit(1);
    }
    start = ticks();
    for (unsigned index = 0; index < members; index++) {
        if (pthread_create(&ids[index], NULL, work, (void *)(uintptr_t)index) != 0) {
            fprintf(stderr, "thread %u of %u cannot be created\n", index, members);
            exit(1);
        }
    }
    for (unsigned index = 0; index < members; index++)
        pthread_join(ids[index], NULL);
    start = ticks() - start;
    pthread_barrier_destroy(&meeting);
    return start;
}

static inline void meet(void)
{
    pthread_barrier_wait(&meeting);
}

/* The first of `count` things that a member does; its last is before the first of the next one. */
static inline unsigned share(unsigned count, unsigned member)
{
    return (unsigned)((uint64_t)count * member / members);
}

/* Argument `at` as a number between two others, `otherwise` where there is none. */
static inline unsigned number(int argc, char **argv, int at, unsigned least, unsigned most,
                              unsigned otherwise)
{
    unsigned long value = otherwise;
    char *end = NULL;

    if (argc > at)
        value = strtoul(argv[at], &end, 10);
    if (value < least || value > most || (end != NULL && *end != '\0')) {
        fprintf(stderr, "argument %d is %s: it has to be a number from %u to %u\n", at, argv[at],
                least, most);
        exit(2);
    }
    return (unsigned)value;
}

static inline void *memory(size_t size)
{
    void *found = malloc(size);

    if (found == NULL) {
        perror("memory");
        exit(1);
    }
    return found;
}

/* A digest that depends on the order of its words. */
static inline uint32_t digest(uint32_t sum, uint32_t word)
{
    return (sum << 5 | sum >> 27) ^ word * 2654435761u;
}

/* Print how long the computation took and whether it is right; return the exit status. */
static inline int finish(unsigned long long took, uint32_t sum, int right)
{
    printf("digest %08x\nparallel %llu\n%s\n", (unsigned)sum, took, right ? "ok" : "WRONG");
    return !right;
}

#endif
