/* SPDX-License-Identifier: Apache-2.0 */
/* zero_check ENGINE ROUNDS WHAT...: uses huge pages in every way in which the kernel hands them
 * out, while the engine clears free ones. Each page that has to be clean is scanned in full when it
 * comes; each is filled before it goes, and looked at again in between: an engine that still wrote
 * to it would be seen. For each WHAT a line on stdout: its name, pages scanned, pages compared. */
#include "zero_pages.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

enum { POOL = 32, PART = 8 };

static long scanned, compared;

static void come(uint64_t *page, uint64_t seed, const char *what)
{
    zero_scan(page, what);
    scanned++;
    zero_fill(page, seed);
}

static void stay(const uint64_t *page, uint64_t seed, const char *what)
{
    zero_verify(page, seed, what);
    compared++;
}

static uint64_t *map_part(void)
{
    uint64_t *at = zero_map(PART, 0);

    if (!at)
        work_fail("mmap");
    return at;
}

static void touch(long round)
{
    uint64_t *at = map_part();

    for (size_t i = 0; i < PART; i++)
        come(zero_page_of(at, i), (uint64_t)round * PART + i, "touch");
    for (size_t i = 0; i < PART; i++)
        stay(zero_page_of(at, i), (uint64_t)round * PART + i, "touch");
    zero_unmap(at, PART);
}

/* Parent and child write to what they share: each gets copies, and keeps what it wrote. */
static void fork_and_write(long round)
{
    uint64_t *at = map_part();

    for (size_t i = 0; i < PART; i++)
        come(zero_page_of(at, i), i, "fork");
    pid_t child = fork();
    if (child < 0)
        work_fail("fork");
    for (size_t i = 0; i < PART; i++) {
        uint64_t *page = zero_page_of(at, i);

        zero_verify(page, i, "fork: what was shared");
        page[0] = zero_word(i, 0);
        zero_fill(page, 1000 + i + (child == 0));
    }
    if (!child)
        touch(round);
    for (size_t i = 0; i < PART; i++)
        stay(zero_page_of(at, i), 1000 + i + (child == 0), "fork: what was written");
    if (!child)
        _exit(0);
    if (work_wait(child))
        exit(1);
    zero_unmap(at, PART);
}

static int huge_file(void)
{
    int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);

    if (fd < 0 || ftruncate(fd, (off_t)(PART * ZERO_PAGE)))
        work_fail("memfd_create");
    return fd;
}

static uint64_t *map_file(int fd, int how)
{
    void *at = mmap(NULL, PART * ZERO_PAGE, PROT_READ | PROT_WRITE, how, fd, 0);

    if (at == MAP_FAILED)
        work_fail("mmap of a file");
    return at;
}

/* A private mapping of a file: the first write to each page makes a copy of all of it. */
static void copy_on_write(long round)
{
    int fd = huge_file();
    uint64_t *file = map_file(fd, MAP_SHARED), *own = map_file(fd, MAP_PRIVATE);

    for (size_t i = 0; i < PART; i++)
        come(zero_page_of(file, i), (uint64_t)round + i, "cow");
    for (size_t i = 0; i < PART; i++) {
        uint64_t *page = zero_page_of(own, i);
        uint64_t first = page[ZERO_WORDS - 1];

        page[ZERO_WORDS - 1] = ~first;
        page[ZERO_WORDS - 1] = first;
        stay(page, (uint64_t)round + i, "cow: the copy");
        zero_fill(page, 7);
        stay(zero_page_of(file, i), (uint64_t)round + i, "cow: the file");
    }
    zero_unmap(own, PART);
    zero_unmap(file, PART);
    close(fd);
}

/* Pages that fallocate() puts into a file, and a hole that is punched and filled anew. */
static void allocate(long round)
{
    int fd = huge_file();

    if (fallocate(fd, 0, 0, (off_t)(PART * ZERO_PAGE)))
        work_fail("fallocate");
    uint64_t *at = map_file(fd, MAP_SHARED);
    for (size_t i = 0; i < PART; i++)
        come(zero_page_of(at, i), (uint64_t)round + i, "fallocate");
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)ZERO_PAGE,
                  (off_t)(2 * ZERO_PAGE)))
        work_fail("fallocate a hole");
    come(zero_page_of(at, 1), 11, "a hole");
    come(zero_page_of(at, 2), 12, "a hole");
    stay(zero_page_of(at, 1), 11, "a hole");
    stay(at, (uint64_t)round, "fallocate");
    zero_unmap(at, PART);
    close(fd);
}

static int user_faults(uint64_t *at)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {(uintptr_t)at, PART * ZERO_PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
        work_fail("userfaultfd");
    return fd;
}

/* A child answers this process's faults, with pages of its own. */
static void answer_faults(int fd, long round)
{
    uint64_t *source = aligned_alloc(ZERO_PAGE, ZERO_PAGE);

    for (size_t left = PART; source && left; left--) {
        struct uffd_msg message;

        work_read(fd, &message, sizeof(message));
        uint64_t to = message.arg.pagefault.address & ~(ZERO_PAGE - 1);
        zero_fill(source, (uint64_t)round + to / ZERO_PAGE % 1000);
        struct uffdio_copy copy = {.dst = to, .src = (uintptr_t)source, .len = ZERO_PAGE};
        if (ioctl(fd, UFFDIO_COPY, &copy))
            work_fail("UFFDIO_COPY");
    }
    _exit(source ? 0 : 1);
}

static void user_fault(long round)
{
    uint64_t *at = map_part();
    int fd = user_faults(at);
    pid_t child = fork();

    if (child < 0)
        work_fail("fork");
    if (!child)
        answer_faults(fd, round);
    for (size_t i = 0; i < PART; i++) {
        uint64_t *page = zero_page_of(at, i);

        stay(page, (uint64_t)round + (uintptr_t)page / ZERO_PAGE % 1000, "userfaultfd");
    }
    if (work_wait(child))
        exit(1);
    close(fd);
    zero_unmap(at, PART);
}

static void move_to(uint64_t *at, int node)
{
    void *pages[PART];
    int nodes[PART], status[PART];

    for (size_t i = 0; i < PART; i++) {
        pages[i] = zero_page_of(at, i);
        nodes[i] = node;
        status[i] = -1;
    }
    if (syscall(SYS_move_pages, 0, (long)PART, pages, nodes, status, 2))
        work_fail("move_pages");
    for (size_t i = 0; i < PART; i++)
        if (status[i] != node) {
            fprintf(stderr, "page %zu is not on node %d: %d\n", i, node, status[i]);
            exit(1);
        }
}

static void migrate(long round)
{
    uint64_t *at = map_part();

    for (size_t i = 0; i < PART; i++)
        come(zero_page_of(at, i), (uint64_t)round + i, "migrate");
    for (int node = 0; node < 2; node++) {
        move_to(at, node);
        for (size_t i = 0; i < PART; i++)
            stay(zero_page_of(at, i), (uint64_t)round + i, "migrate");
    }
    zero_unmap(at, PART);
}

/* The pool grows and shrinks below a process that uses it. */
static void resize(long round)
{
    pid_t child = fork();

    if (child < 0)
        work_fail("fork");
    if (!child) {
        for (int i = 0; i < 4; i++)
            touch(round);
        _exit(0);
    }
    for (int i = 0; i < 8; i++) {
        zero_set_number("nr_hugepages", POOL - (i & 1 ? 0 : POOL / 2));
        zero_sleep_ms(5);
    }
    if (work_wait(child))
        exit(1);
    scanned += 4 * PART;
    compared += 4 * PART;
    zero_set_number("nr_hugepages", POOL);
    if (zero_number("nr_hugepages") != POOL || zero_number("surplus_hugepages")) {
        fprintf(stderr, "the pool has %ld pages\n", zero_number("nr_hugepages"));
        exit(1);
    }
}

static void on_bus_error(int number)
{
    (void)number;
    _exit(42);
}

/* The whole pool is reserved: a further reservation is refused, a process without one gets a signal
 * at its fault, and each reserved page is there. */
static void use_up(long round)
{
    long free_before = zero_number("nr_hugepages");
    uint64_t *all = zero_map((size_t)free_before, 0);

    if (!all)
        work_fail("mmap of the whole pool");
    if (zero_map(1, 0)) {
        fprintf(stderr, "more pages are reserved than there are\n");
        exit(1);
    }
    for (long i = 0; i < free_before; i++)
        come(zero_page_of(all, (size_t)i), (uint64_t)(round + i), "oom");
    pid_t child = fork();
    if (child < 0)
        work_fail("fork");
    if (!child) {
        uint64_t *more = zero_map(1, MAP_NORESERVE);

        signal(SIGBUS, on_bus_error);
        if (more)
            more[0] = 1;
        _exit(0);
    }
    if (work_wait(child) != 42) {
        fprintf(stderr, "a page came from an empty pool\n");
        exit(1);
    }
    for (long i = 0; i < free_before; i++)
        stay(zero_page_of(all, (size_t)i), (uint64_t)(round + i), "oom");
    zero_unmap(all, (size_t)free_before);
}

static const struct {
    const char *name;
    void (*run)(long round);
} all[] = {
    {"touch", touch},
    {"fork", fork_and_write},
    {"cow", copy_on_write},
    {"fallocate", allocate},
    {"userfaultfd", user_fault},
    {"migrate", migrate},
    {"resize", resize},
    {"oom", use_up},
};

static void check(const char *name, long rounds)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(name, all[i].name))
            continue;
        scanned = compared = 0;
        for (long round = 0; round < rounds; round++)
            all[i].run(round);
        printf("%s %ld %ld\n", name, scanned, compared);
        fflush(stdout);
        return;
    }
    fprintf(stderr, "%s: not known\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s ENGINE ROUNDS WHAT...\n", argv[0]);
        return 2;
    }
    zero_set_number("nr_hugepages", POOL);
    zero_ahead(argv[1], POOL);
    for (int i = 3; i < argc; i++)
        check(argv[i], work_number(argv[2]));
    return 0;
}
