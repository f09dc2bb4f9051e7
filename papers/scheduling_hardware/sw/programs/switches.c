/* SPDX-License-Identifier: Apache-2.0 */
/* switches: cycles from a thread's leaving a PE to the next one's first instruction there, and the
 * wake of a joiner whose PE has meanwhile gone on to another thread. For the machine only. Lines:
 * name, smallest, largest; then of how many. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "backend.h"
#include "measure.h"

enum { ROUNDS = 6, MOST_THREADS = 2 * MOST_PES, PAUSE = 400 };

struct stay {
    unsigned pe, came, left;
};

static struct stay stays[MOST_THREADS][ROUNDS];
static pthread_barrier_t barrier;

/* Behind a load nothing is left in the posted-write buffer for the measured command to wait for. */
ALWAYS_INLINE void drain(const struct stay *stay)
{
    __asm__ volatile("lw " ZERO ",%0" : : "m"(*stay) : "memory");
}

/* The command alone, which measures the scheduler and the banks. In SOFT mode the library goes on
 * from there. */
static IN_SWITCH void yield_command(struct stay *now, struct stay *next)
{
    unsigned error;

    drain(now);
    __asm__ volatile(ASM_COP2(GET("%0", 10) PUT(ZERO, 20) GET("%1", 10) GET("%2", 5))
                     : "=&r"(now->left), "=&r"(next->came), "=&r"(error)
                     :
                     : "memory");
    if (error == ERROR_BLOCKED) {
        soft_switch();
        next->came = cycle_low();
    }
    next->pe = pe_number();
}

static void yield_call(struct stay *now, struct stay *next)
{
    unsigned left;

    drain(now);
    left = cycle_low();
    sched_yield();
    next->came = cycle_low();
    now->left = left;
    next->pe = pe_number();
}

static void (*yield)(struct stay *now, struct stay *next);

/* Each thread stays for a while, so that the next one has been fetched when it leaves. */
static void *stay_and_go(void *argument)
{
    struct stay *mine = argument;
    struct stay now, next;

    pthread_barrier_wait(&barrier);
    next = (struct stay){pe_number(), cycle_low(), 0};
    for (int round = 0; round < ROUNDS; round++) {
        now = next;
        pause_for(PAUSE);
        yield(&now, &next);
        mine[round] = now;
    }
    return NULL;
}

/* The last thread to leave the PE before this one came to it, if it was another one. */
static unsigned cycles_of(unsigned thread, int round, unsigned threads)
{
    const struct stay *one = &stays[thread][round];
    unsigned best = 0, by = thread;

    for (unsigned other = 0; other < threads; other++)
        for (int at = 0; at < ROUNDS; at++) {
            const struct stay *before = &stays[other][at];

            if (before->pe == one->pe && before->left < one->came && before->left > best) {
                best = before->left;
                by = other;
            }
        }
    return by == thread ? 0 : one->came - best;
}

static void measure_yield(const char *name, void (*how)(struct stay *, struct stay *))
{
    unsigned threads = 2 * pe_count(), seen = 0;
    pthread_t handles[MOST_THREADS];
    struct range range = {0};

    yield = how;
    for (unsigned at = 0; at < threads; at++)
        if (pthread_create(&handles[at], NULL, stay_and_go, stays[at]) != 0)
            abort();
    for (unsigned at = 0; at < threads; at++)
        pthread_join(handles[at], NULL);
    for (unsigned at = 0; at < threads; at++)
        for (int round = 1; round < ROUNDS; round++) {
            unsigned cycles = cycles_of(at, round, threads);

            if (cycles == 0 || stays[at][round].pe != stays[at][round - 1].pe)
                continue;
            note(&range, cycles);
            seen++;
        }
    print(name, &range);
    printf("%s_seen %u\n", name, seen);
}

static volatile unsigned stop;

static void *occupy(void *argument)
{
    while (!stop)
        pause_for(100);
    return argument;
}

static void *finish_later(void *argument)
{
    pause_for(4 * PAUSE);
    *(volatile unsigned *)argument = cycle_low();
    return NULL;
}

/* All PEs but main's and the one of the thread that it joins are taken; one more thread is ready,
 * which gets main's PE when it blocks. */
static void measure_wake_elsewhere(void)
{
    unsigned others = pe_count() - 1, moved = 0;
    struct range range = {0};

    for (int round = 0; round < ROUNDS; round++) {
        pthread_t occupiers[MOST_PES], joined;
        unsigned ended, cycles, before = pe_number();

        stop = 0;
        for (unsigned at = 0; at + 1 < others; at++)
            pthread_create(&occupiers[at], NULL, occupy, NULL);
        pthread_create(&joined, NULL, finish_later, &ended);
        pause_for(PAUSE);
        pthread_create(&occupiers[others - 1], NULL, occupy, NULL);
        pthread_join(joined, NULL);
        cycles = cycle_low() - ended;
        if (pe_number() != before) {
            note(&range, cycles);
            moved++;
        }
        stop = 1;
        for (unsigned at = 0; at < others; at++)
            pthread_join(occupiers[at], NULL);
    }
    print("join_wake_moved", &range);
    printf("join_wake_moved_seen %u\n", moved);
}

int main(void)
{
    pthread_barrier_init(&barrier, NULL, 2 * pe_count());
    measure_yield("yield_command", yield_command);
    measure_yield("yield_switch", yield_call);
    if (pe_count() > 1)
        measure_wake_elsewhere();
    return 0;
}
