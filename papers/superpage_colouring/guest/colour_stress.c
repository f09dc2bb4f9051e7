/* SPDX-License-Identifier: Apache-2.0 */
/* colour_stress PROCESSES ROUNDS PAGES SEED: processes that map, touch, give back and share memory
 * in a random order, all at once, and check what they wrote. With SWITCH in the environment, a
 * folder of sysfs with the file `mode`, colouring is meanwhile switched on and off and from mode to
 * mode, three times at least: the processes go on for as long as that takes. Prints "ok ROUNDS
 * SWITCHES": the rounds asked for of all processes, and how often colouring was switched. */
#include "work.h"

#include <signal.h>

#define PAGE 4096
#define AREAS 8
#define SWITCHES 3
#define MOST 64

static unsigned state;
static volatile sig_atomic_t enough;

static void end(int signal)
{
    (void)signal;
    enough = 1;
}

static unsigned draw(unsigned below)
{
    state = state * 1664525u + 1013904223u;
    return (unsigned)((unsigned long long)(state >> 8) * below >> 24);
}

struct area {
    unsigned char *at;
    long pages;
};

static void check(const struct area *area)
{
    for (long page = 0; page < area->pages; page++) {
        const unsigned char *at = area->at + page * PAGE;

        if (*at && *at != (unsigned char)(page + 1))
            work_wrong("a page");
    }
}

static void touch(const struct area *area)
{
    for (long page = 0; page < area->pages; page++)
        area->at[page * PAGE] = (unsigned char)(page + 1);
}

static void drop(struct area *area)
{
    check(area);
    munmap(area->at, (size_t)area->pages * PAGE);
    area->at = NULL;
}

static void get(struct area *area, long most)
{
    area->pages = 1 + draw((unsigned)most);
    area->at = mmap(NULL, (size_t)area->pages * PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area->at == MAP_FAILED)
        work_fail("mmap");
    if (draw(4) == 0)
        madvise(area->at, (size_t)area->pages * PAGE, MADV_HUGEPAGE);
    touch(area);
}

static void give_back_some(const struct area *area)
{
    for (long page = draw(2); page < area->pages; page += 1 + draw(3))
        madvise(area->at + page * PAGE, PAGE, MADV_DONTNEED);
}

/* Share the pages with a child that writes to them, and check that nothing of it is seen here. */
static void share(const struct area *area)
{
    pid_t child = fork();

    if (child < 0)
        work_fail("fork");
    if (!child) {
        check(area);
        for (long page = 0; page < area->pages; page++)
            area->at[page * PAGE] = 0;
        _exit(0);
    }
    if (work_wait(child))
        work_wrong("a child");
    check(area);
}

static void rounds(long count, long most)
{
    struct area areas[AREAS] = {{0}};

    for (long round = 0; round < count; round++) {
        struct area *area = &areas[draw(AREAS)];

        if (!area->at)
            get(area, most);
        else if (draw(4) == 0)
            give_back_some(area);
        else if (draw(8) == 0)
            share(area);
        else
            drop(area);
    }
    for (int i = 0; i < AREAS; i++)
        if (areas[i].at)
            drop(&areas[i]);
}

static void put(const char *folder, const char *file, const char *text)
{
    char path[256];
    int fd;

    snprintf(path, sizeof(path), "%s/%s", folder, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        work_fail(path);
    close(fd);
}

static void switch_mode(const char *folder, int on)
{
    static const char *const modes[] = {"fold", "hop"};

    put(folder, "mode", on ? modes[draw(2)] : "off");
}

/* Switch colouring until the last of the processes has ended; returns how often. */
static long switching(const char *folder, const pid_t *children, long processes)
{
    long times = 0, left = processes;
    int status;

    while (left) {
        pid_t ended = waitpid(-1, &status, folder ? WNOHANG : 0);

        if (ended < 0)
            work_fail("waitpid");
        if (ended && status)
            work_wrong("a process");
        left -= ended != 0;
        if (!folder || ended)
            continue;
        switch_mode(folder, times++ % 2 == 0);
        for (long child = 0; times == SWITCHES && child < processes; child++)
            kill(children[child], SIGTERM);
        usleep(500 + draw(3000));
    }
    if (folder)
        switch_mode(folder, 0);
    return times;
}

int main(int argc, char **argv)
{
    const char *folder = getenv("SWITCH");
    pid_t children[MOST];
    long numbers[4];

    work_arguments(argc, argv, "PROCESSES ROUNDS PAGES SEED", 4, numbers);
    if (numbers[0] > MOST)
        work_wrong("PROCESSES");
    /* Set before the first fork, so that the children inherit it. */
    signal(SIGTERM, end);
    for (long process = 0; process < numbers[0]; process++) {
        pid_t child = children[process] = fork();

        if (child < 0)
            work_fail("fork");
        if (!child) {
            state = (unsigned)(numbers[3] * 1000 + process);
            do
                rounds(numbers[1], numbers[2]);
            while (folder && !enough);
            return 0;
        }
    }
    state = (unsigned)numbers[3];
    long times = switching(folder, children, numbers[0]);
    printf("ok %ld %ld\n", numbers[0] * numbers[1], times);
    return fflush(stdout) ? 1 : 0;
}
