/* SPDX-License-Identifier: Apache-2.0 */
/* model THREADS STEPS [SAMPLE [CREATORS]]: the parallel model of the paper scheduling-hardware (its
 * Figure 4), for the machine only. A thread creates THREADS tasks one by one and joins them in that
 * order; with CREATORS it creates so many threads, each of which does so with its share. Where no
 * thread can be made, the creator first joins its oldest. Prints cycles: of SAMPLE tasks done one
 * after the other without threads, of the creations, of all from the first creation to the last
 * join. */
#include <pthread.h>
#include <stdlib.h>

#include "measure.h"
#include "work.h"

enum { MOST_TASKS = 2048, MOST_CREATORS = 64, FIRST = 1 };

struct task {
    pthread_t thread;
    work_t value;
};

struct share {
    pthread_t thread;
    struct task *tasks;
    unsigned count;
};

static struct task tasks[MOST_TASKS];
static unsigned steps, creating;

static void *run(void *argument)
{
    struct task *task = argument;

    task->value = work(task->value, steps);
    return NULL;
}

/* Without a free id and without a child to wait for, a creator does the work itself. */
static void run_all(struct task *first, unsigned count)
{
    unsigned start = cycle_low(), joined = 0;

    for (unsigned at = 0; at < count; at++) {
        while (pthread_create(&first[at].thread, NULL, run, &first[at]) != 0) {
            if (joined == at) {
                run(&first[at]);
                first[at].thread = 0;
                break;
            }
            if (first[joined].thread != 0)
                pthread_join(first[joined].thread, NULL);
            joined++;
        }
    }
    creating = cycle_low() - start;
    for (; joined < count; joined++)
        if (first[joined].thread != 0)
            pthread_join(first[joined].thread, NULL);
}

static void *run_share(void *argument)
{
    struct share *share = argument;

    run_all(share->tasks, share->count);
    return NULL;
}

static void run_by_creators(unsigned count, unsigned creators)
{
    static struct share shares[MOST_CREATORS];
    unsigned begun = 0;

    for (unsigned at = 0; at < creators; at++) {
        unsigned end = count * (at + 1) / creators;

        shares[at] = (struct share){0, tasks + begun, end - begun};
        begun = end;
        if (pthread_create(&shares[at].thread, NULL, run_share, &shares[at]) != 0)
            abort();
    }
    for (unsigned at = 0; at < creators; at++)
        pthread_join(shares[at].thread, NULL);
}

static void set_values(void)
{
    for (unsigned at = 0; at < MOST_TASKS; at++)
        tasks[at].value = FIRST;
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    unsigned sample = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : count;
    unsigned creators = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    unsigned start, sequential, parallel;
    work_t expected;

    steps = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (count < 1 || count > MOST_TASKS || sample < 1 || sample > count ||
        creators > MOST_CREATORS) {
        fputs("usage: model THREADS STEPS [SAMPLE [CREATORS]]\n", stderr);
        return 2;
    }
    set_values();
    start = cycle_low();
    for (unsigned at = 0; at < sample; at++)
        run(&tasks[at]);
    sequential = cycle_low() - start;
    expected = tasks[0].value;
    set_values();

    start = cycle_low();
    if (creators != 0)
        run_by_creators(count, creators);
    else
        run_all(tasks, count);
    parallel = cycle_low() - start;

    printf("sequential %u\ncreating %u\nparallel %u\ninstructions %u\n", sequential, creating,
           parallel, STEP_INSTRUCTIONS * steps * count);
    for (unsigned at = 0; at < count; at++)
        if (tasks[at].value != expected)
            return 1;
    return 0;
}
