/* SPDX-License-Identifier: Apache-2.0 */
/* The parallel model of a study of scheduling hardware: one thread creates THREADS others one by
 * one, each works for a given time, and it joins them in the order in which it made them. Little
 * work per thread: creating and scheduling them is what costs. */
#include "args.h"
#include "random.h"

#include <pthread.h>

static const char usage[] =
    "usage: grain [-v] THREADS WORK [ROUNDS]\n"
    "Creates and joins THREADS threads of WORK steps each, ROUNDS times (default 1).\n"
    "  THREADS  1 to 10000\n"
    "  WORK     0 to 1000G; K, M, G = 10^3, 10^6, 10^9\n"
    "  ROUNDS   1 to 1G, suffixes alike\n"
    "  -v       threads per second on stderr\n";

struct task {
    pthread_t thread;
    uint64_t value;
    uint64_t work;
};

static void *run(void *data)
{
    struct task *task = data;
    uint64_t value = task->value;

    for (uint64_t step = 0; step < task->work; step++)
        value = lcg_step(value);
    task->value = value;
    return NULL;
}

static _Noreturn void fail(const char *what, int error)
{
    fprintf(stderr, "grain: cannot %s: %s\n", what, strerror(error));
    exit(1);
}

static uint64_t run_round(struct task *tasks, uint64_t threads, uint64_t work, uint64_t first)
{
    uint64_t sum = 0;

    for (uint64_t at = 0; at < threads; at++) {
        int error;

        tasks[at].value = first + at;
        tasks[at].work = work;
        error = pthread_create(&tasks[at].thread, NULL, run, &tasks[at]);
        if (error != 0)
            fail("create a thread", error);
    }
    for (uint64_t at = 0; at < threads; at++) {
        int error = pthread_join(tasks[at].thread, NULL);

        if (error != 0)
            fail("join a thread", error);
        sum += tasks[at].value;
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct args args = args_parse(argc, argv, "grain", usage, 2, 3);
    uint64_t threads = args_number(&args, 0, "THREADS", ARGS_PLAIN, 1, 10000, 0);
    uint64_t work = args_number(&args, 1, "WORK", ARGS_COUNT, 0, UINT64_C(1000000000000), 0);
    uint64_t rounds = args_number(&args, 2, "ROUNDS", ARGS_COUNT, 1, UINT64_C(1000000000), 1);
    struct task *tasks = args_alloc(&args, (size_t)threads * sizeof(*tasks));
    uint64_t sum = 0, expected = 0;
    double start = args_seconds();

    for (uint64_t round = 0; round < rounds; round++)
        sum += run_round(tasks, threads, work, round * threads);
    args_rate(&args, (double)(threads * rounds), "threads", start);

    for (uint64_t first = 0; first < threads * rounds; first++)
        expected += lcg_jump(first, work);
    printf("grain: %" PRIu64 " threads, %" PRIu64 " steps each, %" PRIu64 " times, sum %016" PRIx64
           "\n",
           threads, work, rounds, sum);
    free(tasks);
    return args_finish(&args, sum == expected);
}
