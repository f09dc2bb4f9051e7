/* SPDX-License-Identifier: Apache-2.0 */
/* zero-ring-check: the ring's server beside a kernel that is played here: open, ioctl, mmap, poll
 * and fstatfs of its device are ours (ld --wrap; meson has 64-bit offsets, hence their names). Run
 * as root or not; prints "ok: WHAT" lines. */
#include "block_check.h"

#include "guard.h"
#include "ring.h"
#include "ring_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { SLOTS = 4, HUGE_PAGE = 2 << 20, MOST = 300 };

int __real_open64(const char *path, int flags, ...);
int __real_poll(struct pollfd *polled, nfds_t count, int ms);
void *__real_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_poll(struct pollfd *polled, nfds_t count, int ms);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
int __wrap_fstatfs64(int fd, struct statfs *about);

static int device = -1, memory_fd, ring_fd, refuse;
static struct zerod_ring_shared *ring;
static unsigned char *memory;
static unsigned kicks;
static bool gone;
static volatile sig_atomic_t terminated;

int __wrap_open64(const char *path, int flags, ...)
{
    if (strcmp(path, ZEROD_RING_DEVICE) != 0)
        return __real_open64(path, flags);
    if (refuse) {
        errno = refuse;
        return -1;
    }
    return device = __real_open64("/dev/null", O_RDWR);
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
    struct zerod_ring_setup *setup;
    va_list rest;

    CHECK(fd == device);
    if (request == ZEROD_RING_KICK) {
        __atomic_fetch_add(&kicks, 1, __ATOMIC_RELAXED);
        return 0;
    }
    CHECK(request == ZEROD_RING_SETUP);
    va_start(rest, request);
    setup = va_arg(rest, struct zerod_ring_setup *);
    va_end(rest);
    CHECK(setup->version == 1 && setup->slots == SLOTS && !setup->page_size);
    setup->memory_fd = dup(memory_fd);
    setup->ring_size = sizeof(*ring);
    return 0;
}

int __wrap_poll(struct pollfd *polled, nfds_t count, int ms)
{
    if (count == 1)
        return __real_poll(polled, count, ms);
    for (;;) {
        polled[0].revents = __atomic_load_n(&gone, __ATOMIC_ACQUIRE) ? POLLERR
                            : __atomic_load_n(&ring->posted, __ATOMIC_ACQUIRE) != ring->taken
                                ? POLLIN
                                : 0;
        if (__real_poll(&polled[1], 1, 1) || polled[0].revents)
            return 1;
    }
}

void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    if (fd >= 0 && fd == device)
        return __real_mmap64(at, bytes, prot, flags, ring_fd, offset);
    /* A reservation would take the pages out of the kernel's pool. */
    CHECK(bytes != (size_t)SLOTS * HUGE_PAGE || flags == (MAP_SHARED | MAP_NORESERVE));
    return __real_mmap64(at, bytes, prot, flags, fd, offset);
}

int __wrap_fstatfs64(int fd, struct statfs *about)
{
    about->f_bsize = HUGE_PAGE;
    return 0;
}

static bool page_is_zero(const unsigned char *at)
{
    for (size_t i = 0; i < HUGE_PAGE; i++) {
        if (at[i])
            return false;
    }
    return true;
}

/* Wait until the daemon has answered so many in all. */
static void wait_answers(uint32_t count)
{
    while (__atomic_load_n(&ring->answered, __ATOMIC_ACQUIRE) != count)
        usleep(100);
}

/* Counters begin just below their end, so that they wrap. The 300 rounds are fewer where
 * OKOSU_CHECK_STEP is set, for a build in which each takes long. */
static void check_posts(void)
{
    const uint32_t rounds = getenv("OKOSU_CHECK_STEP") ? MOST / 10 : MOST;
    uint32_t first = ring->posted = ring->taken = ring->answered = ring->seen = UINT32_MAX - 5;
    uint64_t sequence = 1000;
    struct zerod_ring *served;

    CHECK(zerod_ring_open(&served, SLOTS) == 0);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t posted = first + round;
        uint32_t slot = round % 7 == 6 ? SLOTS + 3 : round % SLOTS;
        struct zerod_ring_entry answer;

        if (slot < SLOTS)
            memset(memory + (size_t)slot * HUGE_PAGE, 0xa5, HUGE_PAGE);
        ring->post[posted % SLOTS] = (struct zerod_ring_entry){.seq = ++sequence, .slot = slot};
        __atomic_store_n(&ring->posted, posted + 1, __ATOMIC_RELEASE);
        wait_answers(posted + 1);
        answer = ring->answer[posted % SLOTS];
        CHECK(answer.seq == sequence && answer.slot == slot);
        CHECK(answer.status == (slot < SLOTS ? 0 : -EINVAL));
        CHECK(slot >= SLOTS || page_is_zero(memory + (size_t)slot * HUGE_PAGE));
        for (uint32_t other = 0; other < SLOTS && round >= SLOTS; other++)
            CHECK(other == slot || page_is_zero(memory + (size_t)other * HUGE_PAGE));
    }
    CHECK(ring->taken == first + rounds && kicks >= rounds - 1);
    CHECK(zerod_ring_close(served) == 0);
    puts("ok: posts are cleared and answered, in rings that wrap");
}

/* The kernel takes a page back meanwhile, and there is none in its place. */
static void check_page_taken_back(void)
{
    struct zerod_ring *served;
    uint32_t posted = ring->posted;

    CHECK(zerod_ring_open(&served, SLOTS) == 0);
    CHECK(ftruncate(memory_fd, HUGE_PAGE) == 0);
    ring->post[posted % SLOTS] = (struct zerod_ring_entry){.seq = 1, .slot = 2};
    __atomic_store_n(&ring->posted, posted + 1, __ATOMIC_RELEASE);
    wait_answers(posted + 1);
    CHECK(ring->answer[posted % SLOTS].status == -EFAULT);
    CHECK(ftruncate(memory_fd, SLOTS * (off_t)HUGE_PAGE) == 0);
    CHECK(zerod_ring_close(served) == 0);
    puts("ok: a page that is not there any more");
}

static void on_term(int signal_number)
{
    terminated = 1;
}

static void check_device_gone(void)
{
    struct zerod_ring *served;

    signal(SIGTERM, on_term);
    CHECK(zerod_ring_open(&served, SLOTS) == 0);
    __atomic_store_n(&gone, true, __ATOMIC_RELEASE);
    while (!terminated)
        usleep(100);
    CHECK(zerod_ring_close(served) == -EIO);
    puts("ok: a device that ends");
}

static void check_refusals(void)
{
    const int errors[] = {ENOENT, EPERM, EBUSY, EACCES};
    struct zerod_ring *served = NULL;

    CHECK(zerod_ring_open(&served, 3) == -EINVAL && !served);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        refuse = errors[i];
        CHECK(zerod_ring_open(&served, SLOTS) == -errors[i] && !served);
    }
    refuse = 0;
    puts("ok: refusals");
}

int main(void)
{
    memory_fd = memfd_create("pages", MFD_CLOEXEC);
    ring_fd = memfd_create("ring", MFD_CLOEXEC);
    CHECK(memory_fd >= 0 && ring_fd >= 0);
    CHECK(!ftruncate(memory_fd, SLOTS * (off_t)HUGE_PAGE) && !ftruncate(ring_fd, sizeof(*ring)));
    memory = __real_mmap64(NULL, (size_t)SLOTS * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
                           memory_fd, 0);
    ring = __real_mmap64(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, 0);
    CHECK(memory != MAP_FAILED && ring != MAP_FAILED && zerod_guard_begin() == 0);
    check_refusals();
    check_posts();
    check_page_taken_back();
    check_device_gone();
    return 0;
}
