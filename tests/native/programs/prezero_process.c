/* SPDX-License-Identifier: Apache-2.0 */
/* prezero_process: what a program may do to its threads, descriptors and namespaces while a pool
 * serves it. It prints its mode; exit status 1 names what is wrong. */
#include "block_check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void use_memory(int times)
{
    for (int i = 0; i < times; i++) {
        void *p = malloc(4 * MIB);

        CHECK(p);
        *(volatile char *)p = 1;
        free(p);
    }
}

static int survived;

static void *use_when_cancelled(void *arg)
{
    (void)arg;
    pthread_cancel(pthread_self());
    use_memory(20);
    survived++;
    pthread_testcancel();
    return NULL;
}

/* malloc and free are no cancellation points, whether they make the pool or find it asleep. */
static void check_cancelled(void)
{
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        void *end;

        CHECK(!pthread_create(&thread, NULL, use_when_cancelled, NULL));
        CHECK(!pthread_join(thread, &end) && end == PTHREAD_CANCELED);
        CHECK(survived == i + 1);
        use_memory(i);
        usleep(100000);
    }
}

/* The pages of a block that was freed are as good as new, whatever the program had advised. */
static void check_advised(void)
{
    for (int i = 0; i < 20; i++) {
        unsigned char *p = malloc(4 * MIB), *from = p + (-(uintptr_t)p & 4095);
        int status;
        pid_t child;

        memset(p, i, 4 * MIB);
        CHECK(!madvise(from, MIB, i % 2 ? MADV_DONTFORK : MADV_WIPEONFORK));
        free(p);
        p = malloc(4 * MIB);
        memset(p, i + 1, 4 * MIB);
        child = fork();
        if (!child)
            _exit(p[MIB / 2] != i + 1);
        CHECK(waitpid(child, &status, 0) == child && !status);
        free(p);
    }
}

/* Of /proc/self/status. */
static size_t kib_of(const char *format)
{
    FILE *file = fopen("/proc/self/status", "r");
    size_t kib = SIZE_MAX;
    char line[128];

    while (file && fgets(line, sizeof(line), file) && sscanf(line, format, &kib) != 1)
        ;
    CHECK(file && !fclose(file));
    return kib;
}

/* A block that is freed is not locked any more. */
static void check_pinned(void)
{
    for (int i = 0; i < 6; i++) {
        unsigned char *p = malloc(4 * MIB);

        if (mlock(p, 4 * MIB)) /* not allowed */
            return;
        free(p);
        CHECK(kib_of("VmLck: %zu") < 100);
    }
}

/* All descriptors are closed and their numbers given to sockets of the program's own, while it
 * holds blocks, gives them back, forks and takes others. */
static void check_descriptors(void)
{
    unsigned char *held[8];
    struct pollfd come[1200];
    int count = 0, status;
    pid_t child;

    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 8; k++)
            memset(held[k] = calloc(1, 4 * MIB), i * 8 + k, 4 * MIB);
        for (int k = 0; i < 19 && k < 8; k++)
            free(held[k]);
        usleep(10000);
    }
    CHECK(!close_range(3, ~0u, 0));
    while (count < 1200 && !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, (int[2]){0}))
        count += 2;
    for (int i = 0; i < count; i++)
        come[i] = (struct pollfd){.fd = 3 + i, .events = POLLIN};
    for (int k = 0; k < 4; k++)
        free(held[k]);
    usleep(300000);
    for (int k = 0; k < 4; k++)
        memset(held[k] = calloc(1, 4 * MIB), 152 + k, 4 * MIB);
    child = fork();
    if (!child) {
        for (int i = 0; i < count; i++)
            CHECK(fcntl(3 + i, F_GETFD) == 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
    usleep(1200000);
    for (int k = 0; k < 8; k++) {
        for (size_t at = 0; at < 4 * MIB; at++)
            CHECK(held[k][at] == 152 + k);
        free(held[k]);
    }
    usleep(300000);
    /* Nothing arrived, and nobody closed the other end. */
    CHECK(poll(come, (nfds_t)count, 0) == 0);
}

/* What was freed before a fork is no memory of the child, which keeps what it holds. */
static void check_children(void)
{
    unsigned char *held[32];
    int status;
    pid_t child;

    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 32; i++)
            memset(held[i] = malloc(4 * MIB), i, 4 * MIB);
        for (int i = 2; i < 32; i++)
            free(held[i]);
        if (!turn) {
            free(held[0]);
            free(held[1]);
        }
    }
    child = fork();
    if (!child) {
        CHECK(kib_of("VmRSS: %zu") < 40000);
        for (size_t at = 0; at < 4 * MIB; at++)
            CHECK(held[0][at] == 0 && held[1][at] == 1);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
}

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = -2;

    CHECK(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

/* What the kernel allows only to a process of one thread: tried while the pool has one. */
static void check_namespaces(void)
{
    int fd;

    for (int i = 0; i < 100 && threads() == 1; i++) {
        use_memory(8);
        usleep(2000);
    }
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) {
        CHECK(errno == EPERM || errno == ENOSPC); /* not allowed here */
        return;
    }
    fd = open("/proc/self/ns/mnt", O_RDONLY);
    CHECK(fd >= 0);
    for (int i = 0; i < 100 && threads() == 1; i++) {
        use_memory(8);
        usleep(2000);
    }
    CHECK(!setns(fd, CLONE_NEWNS) && !close(fd));
    use_memory(8);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } modes[] = {{"cancelled", check_cancelled},     {"advised", check_advised},
                 {"children", check_children},       {"namespaces", check_namespaces},
                 {"descriptors", check_descriptors}, {"pinned", check_pinned}};

    /* libc, too, then unmaps each large block that is freed. */
    CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 17));
    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].check();
            return puts(modes[i].name) < 0;
        }
    }
    return 2;
}
