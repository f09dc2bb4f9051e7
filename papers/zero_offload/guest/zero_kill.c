/* SPDX-License-Identifier: Apache-2.0 */
/* zero_kill TIMES [DAEMON ARGUMENT...]: starts a daemon that clears the kernel's huge pages
 * (zero_daemon good, or the command given), kills it while it has some, and scans what is handed
 * out after that: at least TIMES times, each at another point, and on until half of TIMES had a
 * page when they were killed, but 4 * TIMES times at the most: one that clears all that there is
 * between two ticks is seen when it has none left. Two lines on stdout: killed with the number of
 * daemons, and midway with the number of those that had a page. */
#include "zero_pages.h"

#include <libgen.h>
#include <signal.h>

enum { POOL = 24, PART = 20 };

static pid_t start_daemon(char **command)
{
    pid_t child = fork();

    if (child < 0)
        work_fail("fork");
    if (!child) {
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

        dup2(nothing, STDOUT_FILENO);
        execv(command[0], command);
        work_fail(command[0]);
    }
    return child;
}

/* Wait until the daemon has had a few pages, another number each time, and has one. */
static void let_work(long pages)
{
    for (int tries = 0; tries < 200; tries++) {
        if (zero_stat("cleared") >= pages && zero_stat("running"))
            return;
        zero_sleep_ms(1);
    }
}

static void use_pages(long round)
{
    uint64_t *at = zero_map(PART, 0);

    if (!at)
        work_fail("mmap");
    for (size_t i = 0; i < PART; i++) {
        zero_scan(zero_page_of(at, i), "after a daemon's end");
        zero_fill(zero_page_of(at, i), (uint64_t)round + i);
    }
    for (size_t i = 0; i < PART; i++)
        zero_verify(zero_page_of(at, i), (uint64_t)round + i, "after a daemon's end");
    zero_unmap(at, PART);
}

static void wait_settled(void)
{
    for (int tries = 0; zero_stat("running") || zero_stat("stuck"); tries++) {
        if (tries > 3000) {
            fputs("the pages of a daemon that has ended do not come back\n", stderr);
            exit(1);
        }
        zero_sleep_ms(5);
    }
}

int main(int argc, char **argv)
{
    char path[4096], *own[] = {path, "good", NULL};
    char **command = argc > 2 ? argv + 2 : own;
    long times, round, midway = 0;

    work_arguments(argc > 2 ? 2 : argc, argv, "TIMES [DAEMON ARGUMENT...]", 1, &times);
    snprintf(path, sizeof(path), "%s/zero_daemon", dirname(strdup(argv[0])));
    zero_set_number("nr_hugepages", POOL);
    zero_set_number("zero_target", POOL);
    zero_set("zero_engine", "user");
    for (round = 0; round < times || (midway < times / 2 && round < 4 * times); round++) {
        pid_t child = start_daemon(command);

        let_work(zero_stat("cleared") + 1 + round % 7);
        midway += zero_stat("running") > 0;
        kill(child, SIGKILL);
        if (waitpid(child, NULL, 0) != child)
            work_fail("waitpid");
        use_pages(round);
        wait_settled();
        if (zero_number("free_hugepages") != POOL) {
            fprintf(stderr, "of %d pages %ld are free\n", POOL, zero_number("free_hugepages"));
            return 1;
        }
    }
    printf("killed %ld\nmidway %ld\n", round, midway);
    return 0;
}
