/* SPDX-License-Identifier: Apache-2.0 */
/* zero_daemon HOW [MS]: a daemon on /dev/hugetlb_zero that clears pages with memset(), and
 *
 *   good    answers
 *   slow    waits MS first, clears after that and answers late
 *   wrong   answers that it failed, having cleared half of the page
 *   pinned  keeps every page in a pipe for MS after its answer
 *   rogue   goes on writing to every slot once its answer has been seen: to holes, and to pages
 *           that it will have to clear
 *   broken  says that it has answered more than it was asked
 *   greedy  maps the file of its slots once more, while two of its four have pages, as one that
 *           reserves what it maps, and prints "mapped MILLISECONDS"; answers meanwhile
 *   faulty  first has the kernel write what it returns to memory that cannot be written to
 *
 * It runs until it is killed. The declarations are the kernel's uapi/linux/hugetlb_zero.h. */
#include "zero_pages.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

enum { SLOTS = 4, MAX_SLOTS = 64, VERSION = 1 };

struct entry {
    uint64_t seq;
    uint32_t slot;
    int32_t status;
};

struct ring {
    _Atomic uint32_t posted;
    uint32_t pad0[15];
    _Atomic uint32_t taken;
    uint32_t pad1[15];
    _Atomic uint32_t answered;
    uint32_t pad2[15];
    _Atomic uint32_t seen;
    uint32_t pad3[15];
    struct entry post[MAX_SLOTS];
    struct entry answer[MAX_SLOTS];
};

struct setup {
    uint32_t version, slots;
    uint64_t page_size;
    int32_t memory_fd;
    uint32_t ring_size;
    uint64_t reserved[2];
};

#define SETUP _IOWR(0xBC, 0x00, struct setup)
#define KICK _IO(0xBC, 0x01)

struct daemon {
    int fd, memory_fd;
    struct ring *ring;
    unsigned char *memory;
    const char *how;
    long ms;
};

static int is(const struct daemon *daemon, const char *how)
{
    return !strcmp(daemon->how, how);
}

static void set_up_in_vain(const struct daemon *daemon, const struct setup *setup)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        work_fail("mmap");
    memcpy(page, setup, sizeof(*setup));
    if (mprotect(page, 4096, PROT_READ))
        work_fail("mprotect");
    if (!ioctl(daemon->fd, SETUP, page) || errno != EFAULT)
        work_fail("SETUP into memory that cannot be written to");
}

static void start(struct daemon *daemon)
{
    struct setup setup = {.version = VERSION, .slots = SLOTS};

    daemon->fd = open("/dev/hugetlb_zero", O_RDWR | O_CLOEXEC);
    if (daemon->fd < 0)
        work_fail("/dev/hugetlb_zero");
    if (is(daemon, "faulty"))
        set_up_in_vain(daemon, &setup);
    if (ioctl(daemon->fd, SETUP, &setup))
        work_fail("/dev/hugetlb_zero");
    daemon->memory_fd = setup.memory_fd;
    daemon->ring = mmap(NULL, setup.ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, daemon->fd, 0);
    daemon->memory = mmap(NULL, SLOTS * ZERO_PAGE, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_NORESERVE, setup.memory_fd, 0);
    if (daemon->ring == MAP_FAILED || daemon->memory == MAP_FAILED)
        work_fail("mmap");
}

/* A pipe holds references to pages, as a device's driver does. */
static void pin_in_pipe(unsigned char *page)
{
    struct iovec part = {.iov_base = page, .iov_len = 4096};
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) || vmsplice(ends[1], &part, 1, 0) != 4096)
        work_fail("vmsplice");
}

static int32_t clear(const struct daemon *daemon, unsigned char *page)
{
    if (is(daemon, "slow"))
        zero_sleep_ms(daemon->ms);
    memset(page, 0, is(daemon, "wrong") ? ZERO_PAGE / 2 : ZERO_PAGE);
    if (is(daemon, "pinned"))
        pin_in_pipe(page);
    return is(daemon, "wrong") ? -5 : 0;
}

static void answer(struct daemon *daemon, struct entry entry)
{
    struct ring *ring = daemon->ring;
    uint32_t number = atomic_load_explicit(&ring->answered, memory_order_relaxed);

    ring->answer[number % SLOTS] = entry;
    atomic_store_explicit(&ring->answered, number + (is(daemon, "broken") ? 100 : 1),
                          memory_order_release);
    if (ioctl(daemon->fd, KICK))
        work_fail("ioctl");
    if (is(daemon, "rogue")) {
        while (atomic_load(&ring->seen) != number + 1)
            zero_sleep_ms(1);
        zero_sleep_ms(30);
        for (int slot = 0; slot < SLOTS; slot++)
            memset(daemon->memory + (size_t)slot * ZERO_PAGE, 0x5a, 64);
    }
}

/* In a child, so that the parent can answer: two pages are lent then, and two slots are holes. */
static void map_again(const struct daemon *daemon)
{
    while (atomic_load(&daemon->ring->posted) < 2)
        zero_sleep_ms(1);
    if (fork())
        return;
    double begun = work_now();
    void *at =
        mmap(NULL, SLOTS * ZERO_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, daemon->memory_fd, 0);

    printf("mapped %.0f\n", (work_now() - begun) * 1e3);
    exit(fflush(stdout) || at == MAP_FAILED);
}

static void serve(struct daemon *daemon)
{
    struct ring *ring = daemon->ring;
    struct pollfd polled = {.fd = daemon->fd, .events = POLLIN};
    uint32_t taken = 0;

    for (;;) {
        if (poll(&polled, 1, -1) < 0 || polled.revents & POLLERR)
            exit(3);
        while (taken != atomic_load_explicit(&ring->posted, memory_order_acquire)) {
            struct entry entry = ring->post[taken % SLOTS];

            atomic_store_explicit(&ring->taken, ++taken, memory_order_release);
            entry.status = clear(daemon, daemon->memory + entry.slot * ZERO_PAGE);
            answer(daemon, entry);
        }
    }
}

int main(int argc, char **argv)
{
    struct daemon daemon = {.how = argc > 1 ? argv[1] : "good"};

    daemon.ms = argc > 2 ? work_number(argv[2]) : 0;
    start(&daemon);
    puts("ready");
    fflush(stdout);
    if (is(&daemon, "greedy")) {
        map_again(&daemon);
        /* By now the child has mapped it or waits. */
        zero_sleep_ms(100);
    }
    serve(&daemon);
}
