/* SPDX-License-Identifier: Apache-2.0 */
/* primitives_all: what primitives.c measures on an idle machine, with a thread on every PE that
 * does the same at the same time. For the machine only. Lines: name, smallest and largest of ROUNDS
 * calls on each PE; then what a call takes on average. */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "measure.h"

enum { ROUNDS = 16 };

enum operation { CREATE, JOIN, LOCK, UNLOCK, OPERATIONS };

static const char *const names[OPERATIONS] = {
    [CREATE] = "create_all",
    [JOIN] = "join_finished_all",
    [LOCK] = "mutex_lock_all",
    [UNLOCK] = "mutex_unlock_all",
};

struct place {
    pthread_t thread;
    pthread_mutex_t mutex;
    struct range ranges[OPERATIONS];
    unsigned sums[OPERATIONS];
    volatile bool ended;
};

static struct place places[MOST_PES];
static pthread_barrier_t barrier;

static void note_at(struct place *place, enum operation operation, unsigned cycles)
{
    note(&place->ranges[operation], cycles);
    place->sums[operation] += cycles - measure_overhead();
}

static void *end(void *argument)
{
    *(volatile bool *)argument = true;
    return NULL;
}

static void measure_threads(struct place *place)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        unsigned start;

        place->ended = false;
        pthread_barrier_wait(&barrier);
        start = cycle_low();
        pthread_create(&thread, NULL, end, (void *)&place->ended);
        note_at(place, CREATE, cycle_low() - start);
        while (!place->ended)
            sched_yield();
        /* The child has stored its word; when all have met again it has ended, too. */
        pthread_barrier_wait(&barrier);
        pause_for(200);
        start = cycle_low();
        pthread_join(thread, NULL);
        note_at(place, JOIN, cycle_low() - start);
    }
}

static void measure_mutex(struct place *place)
{
    pthread_mutex_init(&place->mutex, NULL);
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned start = cycle_low();

        pthread_mutex_lock(&place->mutex);
        note_at(place, LOCK, cycle_low() - start);
        start = cycle_low();
        pthread_mutex_unlock(&place->mutex);
        note_at(place, UNLOCK, cycle_low() - start);
    }
}

static void *measure(void *argument)
{
    measure_threads(argument);
    measure_mutex(argument);
    return NULL;
}

int main(void)
{
    unsigned pes = pe_count();

    pthread_barrier_init(&barrier, NULL, pes);
    for (unsigned at = 0; at < pes; at++)
        pthread_create(&places[at].thread, NULL, measure, &places[at]);
    for (unsigned at = 0; at < pes; at++)
        pthread_join(places[at].thread, NULL);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        struct range range = places[0].ranges[operation];
        unsigned sum = 0;

        for (unsigned at = 0; at < pes; at++) {
            const struct range *here = &places[at].ranges[operation];

            range.least = here->least < range.least ? here->least : range.least;
            range.most = here->most > range.most ? here->most : range.most;
            sum += places[at].sums[operation];
        }
        print(names[operation], &range);
        printf("%s_mean %u\n", names[operation], sum / (pes * ROUNDS));
    }
    return 0;
}
