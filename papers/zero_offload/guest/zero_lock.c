/* SPDX-License-Identifier: Apache-2.0 */
/* zero_lock ENGINE HOW: one process waits for the pool's only page, which the engine ENGINE has and does
 * not end with, and another needs a lock that the first takes for what it does:
 *
 *   fallocate  the first fills a file, the other changes its size: the inode's lock
 *   map        the first maps a file, whose pages are reserved, the other changes its size: the same
 *   pin        the first makes a DMA buffer of a memfd, the other seals that: the same
 *   segment    the first makes a segment of shared memory, the other a small one: its name space's lock
 *   resize     both change the number of pages in the pool: its lock
 *   copy       the first copies a page into the other's memory, as the monitor of its faults, and the
 *              other drops what is there, which that monitor is told of: the lock of what it monitors
 *   touch      the first touches memory of both that is not there, the other unmaps it: the mapping's
 *   broken     memory of the page is reported broken, and other memory: the lock of such reports
 *
 * Half a second after the other has asked for the lock it is killed. Lines on stdout, NAME NUMBER: took,
 * the milliseconds until it was gone, and waiter, the same of the first, which is killed after it. For
 * pin the kernel needs CONFIG_UDMABUF, and for broken hwpoison/corrupt-pfn in debugfs. */
#include "zero_pages.h"

#include <linux/udmabuf.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>

enum { PAUSE_MS = 500 };

static int file, monitor;
static char *area, *source;
static char frame[32];

static void nothing(void)
{
}

static void open_file(void)
{
    file = open("/tmp/huge/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        work_fail("/tmp/huge/file");
}

static void fill_file(void)
{
    fallocate(file, 0, 0, (off_t)ZERO_PAGE);
}

static void map_file(void)
{
    mmap(NULL, ZERO_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static void cut_file(void)
{
    if (ftruncate(file, 0))
        work_fail("ftruncate");
}

static void make_memfd(void)
{
    file = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, (off_t)ZERO_PAGE) || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK))
        work_fail("memfd_create");
}

static void make_buffer(void)
{
    struct udmabuf_create buffer = {.memfd = (uint32_t)file, .size = ZERO_PAGE};
    int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);

    map_file();
    if (device < 0 || ioctl(device, UDMABUF_CREATE, &buffer) < 0)
        work_fail("/dev/udmabuf");
}

static void seal(void)
{
    if (fcntl(file, F_ADD_SEALS, F_SEAL_SEAL))
        work_fail("F_ADD_SEALS");
}

static void make_segment(void)
{
    shmget(IPC_PRIVATE, ZERO_PAGE, IPC_CREAT | SHM_HUGETLB | 0600);
}

static void make_small_segment(void)
{
    if (shmget(IPC_PRIVATE, ZERO_SMALL_PAGE, IPC_CREAT | 0600) < 0)
        work_fail("shmget");
}

static void shrink(void)
{
    zero_try("nr_hugepages", "0");
}

/* The page is untouched and nobody has reserved it: the first access would be the monitor's to serve. */
static void be_monitored(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_EVENT_REMOVE};
    struct uffdio_register whole = {.mode = UFFDIO_REGISTER_MODE_MISSING};

    monitor = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    area = mmap(NULL, ZERO_PAGE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
    source = mmap(NULL, ZERO_PAGE, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (monitor < 0 || area == MAP_FAILED || source == MAP_FAILED)
        work_fail("userfaultfd");
    whole.range.start = (uintptr_t)area;
    whole.range.len = ZERO_PAGE;
    if (ioctl(monitor, UFFDIO_API, &api) || ioctl(monitor, UFFDIO_REGISTER, &whole))
        work_fail("userfaultfd");
}

static void copy_in(void)
{
    struct uffdio_copy copy = {.src = (uintptr_t)source, .len = ZERO_PAGE};

    copy.dst = (uintptr_t)area;
    ioctl(monitor, UFFDIO_COPY, &copy);
}

static void drop_area(void)
{
    if (madvise(area, ZERO_PAGE, MADV_DONTNEED))
        work_fail("madvise");
}

static void map_area(void)
{
    area = mmap(NULL, ZERO_PAGE, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        work_fail("mmap");
}

static void touch_area(void)
{
    *(volatile char *)area = 1;
}

static void unmap_area(void)
{
    if (munmap(area, ZERO_PAGE))
        work_fail("munmap");
}

static void find_frame(void)
{
    uint64_t *page = zero_map(1, 0);

    if (!page)
        work_fail("mmap");
    *page = 1;
    snprintf(frame, sizeof(frame), "%llu", (unsigned long long)zero_frame(page));
    zero_unmap(page, 1);
}

static void report(void)
{
    zero_try("/sys/kernel/debug/hwpoison/corrupt-pfn", frame);
}

static void break_small(void)
{
    char *page = mmap(NULL, ZERO_SMALL_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (page == MAP_FAILED)
        work_fail("mmap");
    madvise(page, ZERO_SMALL_PAGE, MADV_HWPOISON);
}

static const struct way {
    const char *name;
    void (*prepare)(void), (*wait)(void), (*take)(void);
    int shared; /* CLONE_VM: the two have their memory in common */
} ways[] = {
    {"fallocate", open_file, fill_file, cut_file, 0},
    {"map", open_file, map_file, cut_file, 0},
    {"pin", make_memfd, make_buffer, seal, 0},
    {"segment", nothing, make_segment, make_small_segment, 0},
    {"resize", nothing, shrink, shrink, 0},
    {"copy", be_monitored, copy_in, drop_area, 0},
    {"touch", map_area, touch_area, unmap_area, CLONE_VM},
    {"broken", find_frame, report, break_small, 0},
};

static const struct way *way_named(const char *name)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        if (!strcmp(ways[i].name, name))
            return &ways[i];
    return NULL;
}

static void wait_for_stat(const char *name, long least)
{
    for (int tries = 0; zero_stat(name) < least; tries++) {
        if (tries > 3000) {
            fprintf(stderr, "%s remains below %ld\n", name, least);
            exit(1);
        }
        zero_sleep_ms(10);
    }
}

static int be_waiter(void *way)
{
    ((const struct way *)way)->wait();
    _exit(0);
}

/* The one that needs the lock; it has the other as its child, which lives on without it. */
static void ask(const struct way *way, int to_parent, const char *engine)
{
    static char stack[1 << 16];
    pid_t waiter;

    zero_set_number("nr_hugepages", 1);
    way->prepare();
    zero_ahead(engine, 1);
    wait_for_stat("running", 1);
    waiter = clone(be_waiter, stack + sizeof(stack), way->shared | SIGCHLD, (void *)way);
    if (waiter < 0)
        work_fail("clone");
    wait_for_stat("waited", 1);
    if (write(to_parent, &waiter, sizeof(waiter)) != sizeof(waiter))
        work_fail("pipe");
    way->take();
    exit(0);
}

/* Milliseconds until a child is gone; `waits`: it must have been there to be killed. */
static double kill_and_wait(pid_t process, int waits)
{
    double begun = work_now();
    int status;

    kill(process, SIGKILL);
    if (waitpid(process, &status, 0) != process)
        work_fail("waitpid");
    if (waits && (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL))
        work_wrong("one that was to wait");
    return (work_now() - begun) * 1e3;
}

int main(int argc, char **argv)
{
    const struct way *way = argc == 3 ? way_named(argv[2]) : NULL;
    int ends[2];
    pid_t waiter, asker;

    if (!way) {
        fprintf(stderr, "usage: %s ENGINE fallocate|map|pin|segment|resize|copy|touch|broken\n",
                argv[0]);
        return 2;
    }
    /* Who has lost its parent becomes ours. */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) || pipe2(ends, O_CLOEXEC))
        work_fail("pipe");
    asker = fork();
    if (!asker)
        ask(way, ends[1], argv[1]);
    close(ends[1]);
    if (read(ends[0], &waiter, sizeof(waiter)) != sizeof(waiter))
        work_wrong("what asks for the lock");
    zero_sleep_ms(PAUSE_MS);
    printf("took %.0f\n", kill_and_wait(asker, 0));
    printf("waiter %.0f\n", kill_and_wait(waiter, 1));
    return 0;
}
