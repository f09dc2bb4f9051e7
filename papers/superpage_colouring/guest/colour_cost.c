/* SPDX-License-Identifier: Apache-2.0 */
/* colour_cost KIND PAGES REPETITIONS PROCESSES: does what the page allocator has to serve, and marks
 * it as the model's region of interest, labelled by the kind's place in the table below. The kernel's
 * instructions in the region, divided by the operations, are the cost of one.
 *
 *   fault   first writes to PAGES pages of anonymous memory, whose page tables exist; each page is
 *           an operation. Before each repetition they are freed, outside of the region.
 *   map     mmap, first writes to PAGES pages, munmap: will-it-scale's page_fault1 in small. Each
 *           page is an operation.
 *   fork    a child that ends at once, of a process with PAGES pages of its own
 *   cow     a child that writes to each of PAGES pages that it shares with its parent
 *   exec    a child that executes this program, which ends at once
 *
 * PROCESSES of them run at once, each on the CPU of its number; the region ends when all have ended.
 */
#include "work.h"

#include <sched.h>

#include "mark.h"

#define PAGE 4096

struct kind {
    const char *name;
    long (*run)(long pages, long reps, int alone); /* returns the operations done */
};

static unsigned char *map_pages(long pages)
{
    unsigned char *at = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        work_fail("mmap");
    return at;
}

static void touch(unsigned char *at, long pages)
{
    for (long page = 0; page < pages; page++)
        *(volatile unsigned char *)(at + page * PAGE) = 1;
}

static void begin(int alone)
{
    if (alone)
        mark_begin();
}

static void end(int alone)
{
    if (alone)
        mark_end();
}

static long fault(long pages, long reps, int alone)
{
    unsigned char *at = map_pages(pages);

    touch(at, pages);
    for (long rep = 0; rep < reps; rep++) {
        if (madvise(at, (size_t)pages * PAGE, MADV_DONTNEED))
            work_fail("madvise");
        begin(alone);
        touch(at, pages);
        end(alone);
    }
    return pages * reps;
}

static long map(long pages, long reps, int alone)
{
    begin(alone);
    for (long rep = 0; rep < reps; rep++) {
        unsigned char *at = map_pages(pages);

        touch(at, pages);
        munmap(at, (size_t)pages * PAGE);
    }
    end(alone);
    return pages * reps;
}

static pid_t forked(void)
{
    pid_t child = fork();

    if (child < 0)
        work_fail("fork");
    return child;
}

static long children(long pages, long reps, int alone, int writes)
{
    unsigned char *at = map_pages(pages);

    touch(at, pages);
    begin(alone);
    for (long rep = 0; rep < reps; rep++) {
        pid_t child = forked();

        if (!child) {
            touch(at, writes ? pages : 0);
            _exit(0);
        }
        work_wait(child);
    }
    end(alone);
    return reps;
}

static long fork_(long pages, long reps, int alone)
{
    return children(pages, reps, alone, 0);
}

static long cow(long pages, long reps, int alone)
{
    return children(pages, reps, alone, 1);
}

static long exec_(long pages, long reps, int alone)
{
    (void)pages;
    begin(alone);
    for (long rep = 0; rep < reps; rep++) {
        pid_t child = forked();

        if (!child) {
            execl("/proc/self/exe", "colour_cost", (char *)NULL);
            _exit(1);
        }
        if (work_wait(child))
            work_wrong("exec");
    }
    end(alone);
    return reps;
}

static const struct kind kinds[] = {
    {"fault", fault}, {"map", map}, {"fork", fork_}, {"cow", cow}, {"exec", exec_},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* Run all processes at once. What each does before its own work is in the region, too. */
static long together(const struct kind *kind, const long *numbers)
{
    long processes = numbers[2];

    mark_begin();
    for (int cpu = 0; cpu < processes; cpu++) {
        cpu_set_t set;

        if (forked())
            continue;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof(set), &set))
            work_fail("sched_setaffinity");
        kind->run(numbers[0], numbers[1], 0);
        _exit(0);
    }
    for (int child = 0; child < processes; child++) {
        int status;

        if (wait(&status) < 0 || status)
            work_wrong("a child");
    }
    mark_end();
    return numbers[0] * numbers[1] * processes;
}

int main(int argc, char **argv)
{
    long numbers[3], ops;
    int which = 0;

    /* Without arguments: this is the program that the kind exec executes. */
    if (argc == 1)
        return 0;
    while (which < KINDS && strcmp(argv[1], kinds[which].name))
        which++;
    if (which == KINDS) {
        fprintf(stderr, "%s: not a kind\n", argv[1]);
        return 2;
    }
    work_arguments(argc - 1, argv + 1, "PAGES REPETITIONS PROCESSES", 3, numbers);
    mark_label((uint64_t)which + 1);
    double start = work_now();
    ops = numbers[2] > 1 ? together(&kinds[which], numbers)
                         : kinds[which].run(numbers[0], numbers[1], 1);
    work_report(ops, work_now() - start, 0);
    return 0;
}
