/* SPDX-License-Identifier: Apache-2.0 */
/* producer ITEMS PAIRS: producers and consumers, as many of each, with a buffer of few places
 * between them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLACES = 4, MOST_PAIRS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static uint32_t buffer[PLACES];
static unsigned filled, put_at, get_at, items;

static void *produce(void *argument)
{
    uint32_t value = (uint32_t)(uintptr_t)argument;

    for (unsigned at = 0; at < items; at++) {
        value = value * 1664525 + 1013904223;
        pthread_mutex_lock(&mutex);
        while (filled == PLACES)
            pthread_cond_wait(&not_full, &mutex);
        buffer[put_at++ % PLACES] = value;
        filled++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *consume(void *argument)
{
    uint32_t sum = 0;

    for (unsigned at = 0; at < items; at++) {
        pthread_mutex_lock(&mutex);
        while (filled == 0)
            pthread_cond_wait(&not_empty, &mutex);
        sum += buffer[get_at++ % PLACES];
        filled--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&mutex);
    }
    (void)argument;
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
    pthread_t ids[2 * MOST_PAIRS];
    unsigned pairs;
    uint32_t sum = 0, expected = 0;

    items = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 50;
    pairs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 4;
    if (pairs == 0 || pairs > MOST_PAIRS) {
        fprintf(stderr, "usage: producer [ITEMS [PAIRS up to %d]]\n", MOST_PAIRS);
        return 2;
    }
    for (unsigned index = 0; index < 2 * pairs; index++) {
        if (pthread_create(&ids[index], NULL, index % 2 == 0 ? produce : consume,
                           (void *)(uintptr_t)index) != 0) {
            fprintf(stderr, "producer: cannot create thread %u\n", index);
            return 1;
        }
    }
    for (unsigned index = 0; index < 2 * pairs; index++) {
        void *value;

        pthread_join(ids[index], &value);
        sum += (uint32_t)(uintptr_t)value;
    }
    for (unsigned index = 0; index < 2 * pairs; index += 2) {
        uint32_t value = index;

        for (unsigned at = 0; at < items; at++)
            expected += value = value * 1664525 + 1013904223;
    }
    printf("producer: %u items from each of %u, sum %08x\n%s\n", items, pairs, sum,
           sum == expected ? "ok" : "WRONG");
    return sum != expected;
}
