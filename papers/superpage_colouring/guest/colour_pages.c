/* SPDX-License-Identifier: Apache-2.0 */
/* colour_pages PAGES ACTION MASK [NODES]: touches PAGES pages of anonymous memory one after the other,
 * does something to them, and prints for each page "NUMBER FRAME FRAME": its page frame before and
 * after (0: it has none). The first number is that of the page in the address space. Needs root.
 *
 *   none      nothing
 *   holes     frees half of the pages, drawn at random: those that are left have any colour
 *   compact   frees half of the pages likewise, and has the kernel compact its memory
 *   migrate   moves each page to the node next to its own
 *   collapse  makes huge pages of them, by MADV_COLLAPSE
 *   child     in a child: writes to each page, which copies it
 *
 * MASK is the bitmap of the colours that the process may have, in hexadecimal; 0: none is set. NODES
 * is that of the nodes that the pages come from. */
#include "work.h"

#include <stdint.h>
#include <sys/syscall.h>

#include "colour_mask.h"

#define PAGE 4096
#define HUGE_PAGE (2ul << 20)
/* Linux 6.1's, which older headers do not have. */
#define COLLAPSE 25
/* MPOL_BIND of <numaif.h>, which is in no package that the lab wants. */
#define BIND 2

struct pages {
    unsigned char *at;
    long count;
};

struct action {
    const char *name;
    void (*run)(const struct pages *pages);
};

static void read_frames(const struct pages *pages, uint64_t *frames)
{
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    size_t size = (size_t)pages->count * sizeof(*frames);
    off_t from = (off_t)((uintptr_t)pages->at / PAGE * sizeof(*frames));

    if (fd < 0)
        work_fail("/proc/self/pagemap");
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, (char *)frames + done, size - done, from + (off_t)done);

        if (got <= 0)
            work_fail("/proc/self/pagemap");
        done += (size_t)got;
    }
    close(fd);
    for (long page = 0; page < pages->count; page++)
        frames[page] = frames[page] >> 63 ? frames[page] & ((UINT64_C(1) << 55) - 1) : 0;
}

/* What is touched from here on comes from these nodes. */
static void only_from(unsigned long nodes)
{
    if (syscall(SYS_set_mempolicy, BIND, &nodes, 8 * sizeof(nodes)))
        work_fail("set_mempolicy");
}

static void nothing(const struct pages *pages)
{
    (void)pages;
}

static void holes(const struct pages *pages)
{
    unsigned state = 1;

    for (long page = 0; page < pages->count; page++) {
        state = state * 1664525u + 1013904223u;
        if (state >> 31 && madvise(pages->at + page * PAGE, PAGE, MADV_DONTNEED))
            work_fail("madvise");
    }
}

static void compact(const struct pages *pages)
{
    int fd = open("/proc/sys/vm/compact_memory", O_WRONLY | O_CLOEXEC);

    holes(pages);
    if (fd < 0 || write(fd, "1", 1) != 1)
        work_fail("/proc/sys/vm/compact_memory");
    close(fd);
}

static void migrate(const struct pages *pages)
{
    for (long page = 0; page < pages->count; page++) {
        void *at = pages->at + page * PAGE;
        int to, state;

        /* Where it is, for no node is named. */
        if (syscall(SYS_move_pages, 0, 1ul, &at, NULL, &state, 0))
            work_fail("move_pages");
        to = state ^ 1;
        if (syscall(SYS_move_pages, 0, 1ul, &at, &to, &state, 2))
            work_fail("move_pages");
        if (state != to) {
            errno = state < 0 ? -state : EINVAL;
            work_fail("a page was not moved");
        }
    }
}

static void collapse(const struct pages *pages)
{
    if (madvise(pages->at, (size_t)pages->count * PAGE, COLLAPSE))
        work_fail("MADV_COLLAPSE");
}

static void child(const struct pages *pages)
{
    int status;
    pid_t parent = fork();

    if (parent < 0)
        work_fail("fork");
    if (!parent) {
        for (long page = 0; page < pages->count; page++)
            pages->at[page * PAGE]++;
        return;
    }
    if (waitpid(parent, &status, 0) != parent)
        work_fail("waitpid");
    _exit(WEXITSTATUS(status));
}

static const struct action actions[] = {
    {"none", nothing},    {"holes", holes},       {"compact", compact},
    {"migrate", migrate}, {"collapse", collapse}, {"child", child},
};

/* Allocate and touch the memory for the results before the pages: it must not take their colours. */
static uint64_t *frames_of(const struct pages *pages)
{
    size_t size = (size_t)pages->count * sizeof(uint64_t);
    uint64_t *frames = malloc(size);

    if (!frames)
        work_fail("malloc");
    memset(frames, 1, size);
    return frames;
}

int main(int argc, char **argv)
{
    const struct action *action = actions, *end = actions + sizeof(actions) / sizeof(*actions);
    struct pages pages;

    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: %s PAGES ACTION MASK [NODES]\n", argv[0]);
        return 2;
    }
    while (action < end && strcmp(action->name, argv[2]))
        action++;
    if (action == end) {
        fprintf(stderr, "%s: not an action\n", argv[2]);
        return 2;
    }
    pages.count = work_number(argv[1]);
    uint64_t mask = strtoull(argv[3], NULL, 16), *before = frames_of(&pages),
             *after = frames_of(&pages);

    colour_mask(mask);
    if (argc == 5)
        only_from(strtoul(argv[4], NULL, 16));
    size_t size = (size_t)pages.count * PAGE + HUGE_PAGE;
    pages.at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages.at == MAP_FAILED)
        work_fail("mmap");
    pages.at += -(uintptr_t)pages.at % HUGE_PAGE;
    for (long page = 0; page < pages.count; page++)
        pages.at[page * PAGE] = (unsigned char)page;
    read_frames(&pages, before);
    action->run(&pages);
    read_frames(&pages, after);
    for (long page = 0; page < pages.count; page++)
        printf("%lu %lu %lu\n", (unsigned long)((uintptr_t)pages.at / PAGE + (uintptr_t)page),
               (unsigned long)before[page], (unsigned long)after[page]);
    return fflush(stdout) ? 1 : 0;
}
