/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of legal_stress that make threads: one that is cancelled, and one that has the
 * world for a while. */
#include "legal_stress.h"

#include <pthread.h>
#include <sys/mman.h>

struct cancelled {
    size_t size;
    bool lives;
};

/* No function that it calls is a cancellation point, but for the last. */
static void *allocate_while_cancelled(void *arg)
{
    struct cancelled *cancelled = arg;
    unsigned char *at, *more;

    CHECK(!pthread_cancel(pthread_self()));
    at = malloc(cancelled->size);
    more = calloc(1, cancelled->size);
    CHECK(at && more);
    fill(at, cancelled->size);
    fill_empty(more, cancelled->size);
    CHECK(holds(at, (uintptr_t)at, cancelled->size, cancelled->size));
    free(more);
    at = realloc(at, 3 * cancelled->size);
    CHECK(at);
    free(at);
    more = mmap(NULL, cancelled->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(more != MAP_FAILED && !munmap(more, cancelled->size));
    cancelled->lives = true;
    pthread_testcancel();
    return NULL;
}

void use_cancelled(struct world *world)
{
    struct cancelled cancelled = {.size = 2 * MIB + below(world, 3 * MIB)};
    pthread_t thread;
    void *result;

    CHECK(!pthread_create(&thread, NULL, allocate_while_cancelled, &cancelled));
    CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED && cancelled.lives);
}

static void *use_memory(void *arg)
{
    struct world *world = arg;

    for (const struct kind *kind = block_kinds; kind->name; kind++)
        if (below(world, 4) == 0)
            kind->run(world);
    for (int i = 0; i < 2; i++)
        region_kinds[below(world, 8)].run(world);
    return NULL;
}

/* The world is another thread's for a while, whose blocks its own thread then frees. */
static void use_thread(struct world *world)
{
    bool alone = world->alone;
    pthread_t thread;

    world->alone = false;
    CHECK(!pthread_create(&thread, NULL, use_memory, world));
    CHECK(!pthread_join(thread, NULL));
    world->alone = alone;
}

const struct kind thread_kinds[] = {
    {"cancelled-thread", 20, use_cancelled},
    {"thread", 20, use_thread},
    {NULL, 0, NULL},
};
