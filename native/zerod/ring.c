/* SPDX-License-Identifier: Apache-2.0 */
/* ring: clears only with stores of the CPU, because a page that is pinned for hardware could not be
 * given back when the kernel wants it. */
#include "ring.h"

#include "guard.h"
#include "ring_abi.h"

#include "base/message.h"

#include <okosu/zero.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

struct zerod_ring {
    int device, file, stop;
    size_t slots, page, room; /* room: bytes of `shared` */
    unsigned char *memory;
    struct zerod_ring_shared *shared;
    pthread_t thread;
    bool started, gone;
};

/* Take one post and answer it. False: there is none. */
static bool serve_one(struct zerod_ring *ring)
{
    struct zerod_ring_shared *shared = ring->shared;
    uint32_t taken = shared->taken, answered = shared->answered;
    struct zerod_ring_entry entry;

    if (taken == __atomic_load_n(&shared->posted, __ATOMIC_ACQUIRE))
        return false;
    entry = shared->post[taken % ring->slots];
    __atomic_store_n(&shared->taken, taken + 1, __ATOMIC_RELEASE);
    /* The kernel may have taken the page back: then this clears a fresh page, or finds none
     * there. */
    entry.status =
        entry.slot < ring->slots
            ? zerod_guard(okosu_zero_page, ring->memory + entry.slot * ring->page, ring->page)
            : -EINVAL;
    shared->answer[answered % ring->slots] = entry;
    __atomic_store_n(&shared->answered, answered + 1, __ATOMIC_RELEASE);
    return true;
}

static void *run(void *arg)
{
    struct zerod_ring *ring = arg;
    struct sched_param param = {0};
    struct pollfd polled[2] = {{.fd = ring->device, .events = POLLIN},
                               {.fd = ring->stop, .events = POLLIN}};

    sched_setscheduler(0, SCHED_IDLE, &param);
    pthread_setname_np(pthread_self(), "zerod-ring");
    while (!polled[1].revents) {
        if (serve_one(ring)) {
            ioctl(ring->device, ZEROD_RING_KICK);
            /* Between two pages, check whether the thread is to stop. */
            poll(&polled[1], 1, 0);
            continue;
        }
        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            break;
        if (polled[0].revents & (POLLERR | POLLHUP | POLLNVAL))
            break;
    }
    if (!polled[1].revents) {
        okosu_message(ZEROD_RING_DEVICE " ended", "the kernel gave up this daemon",
                      "see the kernel's log; start okosu-zerod again");
        ring->gone = true;
        kill(getpid(), SIGTERM);
    }
    return NULL;
}

static int complain(int error)
{
    const char *fix = NULL;

    if (error == ENOENT)
        fix = "a kernel with the series hugetlb-prezero: okosu lab run x86";
    else if (error == EPERM || error == EACCES)
        fix = "serving the kernel needs CAP_SYS_ADMIN, and no lockdown";
    else if (error == EBUSY)
        fix = "another daemon serves it: end that one first";
    okosu_message(ZEROD_RING_DEVICE " cannot be served", strerror(error), fix);
    return -error;
}

/* Open the device and the file, and map both. 0 or an errno. */
static int set_up(struct zerod_ring *ring)
{
    struct zerod_ring_setup setup = {.version = ZEROD_RING_VERSION, .slots = (uint32_t)ring->slots};
    struct statfs about;

    ring->stop = eventfd(0, EFD_CLOEXEC);
    ring->device = open(ZEROD_RING_DEVICE, O_RDWR | O_CLOEXEC);
    if (ring->stop < 0 || ring->device < 0 || ioctl(ring->device, ZEROD_RING_SETUP, &setup))
        return errno;
    ring->file = setup.memory_fd;
    ring->room = setup.ring_size;
    if (fstatfs(ring->file, &about))
        return errno;
    /* For hugetlbfs, f_bsize is the size of its pages. */
    ring->page = (size_t)about.f_bsize;
    if (ring->room < sizeof(*ring->shared))
        return EPROTO;
    /* MAP_NORESERVE, because a reservation would take the very pages that are to be cleared. */
    ring->memory = mmap(NULL, ring->slots * ring->page, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, ring->file, 0);
    if (ring->memory == MAP_FAILED)
        return errno;
    ring->shared = mmap(NULL, ring->room, PROT_READ | PROT_WRITE, MAP_SHARED, ring->device, 0);
    return ring->shared == MAP_FAILED ? errno : 0;
}

int zerod_ring_open(struct zerod_ring **out, size_t slots)
{
    struct zerod_ring *ring = calloc(1, sizeof(*ring));
    sigset_t all, before;
    int error;

    if (!ring)
        return complain(ENOMEM);
    ring->device = ring->file = ring->stop = -1;
    ring->memory = MAP_FAILED;
    ring->shared = MAP_FAILED;
    ring->slots = slots;
    error = slots & (slots - 1) || slots > ZEROD_RING_SLOTS ? EINVAL : set_up(ring);
    if (!error) {
        sigfillset(&all);
        sigdelset(&all, SIGBUS);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(&ring->thread, NULL, run, ring);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        ring->started = !error;
    }
    if (error) {
        zerod_ring_close(ring);
        return complain(error);
    }
    *out = ring;
    return 0;
}

int zerod_ring_close(struct zerod_ring *ring)
{
    int rc;

    if (!ring)
        return 0;
    if (ring->started) {
        eventfd_write(ring->stop, 1);
        pthread_join(ring->thread, NULL);
    }
    rc = ring->gone ? -EIO : 0;
    if (ring->shared != MAP_FAILED)
        munmap(ring->shared, ring->room);
    if (ring->memory != MAP_FAILED)
        munmap(ring->memory, ring->slots * ring->page);
    for (int i = 0; i < 3; i++) {
        int fd = (int[]){ring->file, ring->device, ring->stop}[i];

        if (fd >= 0)
            close(fd);
    }
    free(ring);
    return rc;
}

int zerod_ring_wait(int stop_fd)
{
    struct pollfd polled = {.fd = stop_fd, .events = POLLIN};

    while (poll(&polled, 1, -1) < 0) {
        if (errno != EINTR)
            return -errno;
    }
    return 0;
}
