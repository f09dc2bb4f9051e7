/* SPDX-License-Identifier: Apache-2.0 */
/* prezero_check: what libokosu-prezero.so must keep of malloc, mmap and fork, seen by a program
 * that knows nothing of it. Exit status 1 names what is wrong; "blocks N" tells how many lay in
 * memory that no fault brought. */
#include "block_check.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int bytes_are(const unsigned char *at, size_t bytes, unsigned char value)
{
    unsigned char any = 0;

    for (size_t i = 0; i < bytes; i++)
        any |= at[i] ^ value;
    return !any;
}

static int bytes_are_zero(const unsigned char *at, size_t bytes)
{
    return bytes_are(at, bytes, 0);
}

static long faults(void)
{
    struct rusage use;

    getrusage(RUSAGE_THREAD, &use);
    return use.ru_minflt;
}

/* Blocks of calloc that were touched without a fault, of 200 that are soiled and freed. */
static int clean_blocks(void)
{
    int clean = 0;

    for (int i = 0; i < 200; i++) {
        size_t bytes = 4 * MIB + (size_t)i * 4099;
        unsigned char *p = calloc(bytes, 1);
        long before = faults();

        CHECK(p && bytes_are_zero(p, bytes));
        clean += faults() == before;
        memset(p, 0xa5, bytes);
        CHECK(malloc_usable_size(p) >= bytes);
        free(p);
        usleep(500);
    }
    return clean;
}

static void check_realloc(void)
{
    unsigned char *p = malloc(3 * MIB), *q;

    for (size_t i = 0; i < 3 * MIB; i++)
        p[i] = (unsigned char)(i * 7);
    for (size_t size = 3 * MIB; size < 40 * MIB; size = size * 3 / 2) {
        p = realloc(p, size);
        CHECK(p);
        for (size_t i = 0; i < 3 * MIB; i++)
            CHECK(p[i] == (unsigned char)(i * 7));
    }
    p = realloc(p, 1000);
    for (size_t i = 0; i < 1000; i++)
        CHECK(p[i] == (unsigned char)(i * 7));
    p = realloc(p, 8 * MIB);
    CHECK(p && p[999] == (unsigned char)(999 * 7));
    CHECK(realloc(p, 0) == NULL);
    q = reallocarray(NULL, SIZE_MAX / 2, 3);
    CHECK(!q && errno == ENOMEM);
}

static void check_aligned(void)
{
    for (size_t align = 16; align <= 64 * MIB; align *= 4) {
        void *p = aligned_alloc(align, 5 * MIB), *q;

        CHECK(p && (uintptr_t)p % align == 0);
        CHECK(posix_memalign(&q, align, 3 * MIB) == 0 && (uintptr_t)q % align == 0);
        memset(p, 1, 5 * MIB);
        memset(q, 2, 3 * MIB);
        CHECK(((unsigned char *)p)[5 * MIB - 1] == 1);
        free(p);
        free(q);
    }
}

static unsigned char *map(size_t bytes)
{
    unsigned char *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    return p;
}

/* A file mapped over a mapping that is then unmapped keeps its bytes; and a hole may be
 * another's. */
static void check_mmap(int turns)
{
    int fd = memfd_create("foreign", MFD_CLOEXEC);

    CHECK(fd >= 0 && !ftruncate(fd, 4096));
    CHECK(pwrite(fd, "kept", 4, 0) == 4);
    for (int i = 0; i < turns; i++) {
        unsigned char *p = map(6 * MIB), *q;
        char text[4];

        CHECK(bytes_are_zero(p, 6 * MIB));
        memset(p, 3, 6 * MIB);
        CHECK(mmap(p + MIB, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
              p + MIB);
        CHECK(mprotect(p, 4096, PROT_NONE) == 0);
        if (i % 3 == 1) {
            CHECK(munmap(p + 2 * MIB, 2 * MIB) == 0);
            q = mmap(p + 2 * MIB, 2 * MIB, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (q != MAP_FAILED)
                memset(q, 5, 2 * MIB);
            CHECK(munmap(p, 2 * MIB) == 0 && munmap(p + 4 * MIB, 2 * MIB) == 0);
            if (q != MAP_FAILED)
                CHECK(q[0] == 5 && q[2 * MIB - 1] == 5 && munmap(q, 2 * MIB) == 0);
        } else if (i % 3 == 2) {
            q = mremap(p + 2 * MIB, 4 * MIB, 12 * MIB, MREMAP_MAYMOVE);
            CHECK(q != MAP_FAILED && q[0] == 3 && q[4 * MIB - 1] == 3);
            CHECK(munmap(q, 12 * MIB) == 0 && munmap(p, 2 * MIB) == 0);
        } else {
            CHECK(munmap(p, 6 * MIB) == 0);
        }
        CHECK(pread(fd, text, 4, 0) == 4 && !memcmp(text, "kept", 4));
        usleep(200);
    }
    close(fd);
}

/* What was protected or mapped over comes back as memory that can be written to (libc's heap would
 * not survive it, its blocks of mmap would). */
static int check_protected(void)
{
    for (int i = 0; i < 20; i++) {
        unsigned char *p = aligned_alloc(4096, 6 * MIB), *q;

        memset(p, 1, 6 * MIB);
        CHECK(mprotect(p + MIB, 4096, i % 2 ? PROT_NONE : PROT_READ) == 0);
        if (i % 3 == 0)
            CHECK(mmap(p + 2 * MIB, MIB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                       0) == p + 2 * MIB);
        free(p);
        usleep(200);
        q = calloc(1, 6 * MIB);
        CHECK(bytes_are_zero(q, 6 * MIB));
        memset(q, 2, 6 * MIB);
        free(q);
    }
    return puts("protected") < 0;
}

/* With all memory locked, what the pool has not handed out must not come to be there, whether it
 * had served blocks before (`late`) or not. */
static int check_locked(bool late)
{
    unsigned char *held[3] = {0};
    char line[128];
    size_t kb = 0;
    FILE *file;

    for (int i = 0; late && i < 3; i++)
        held[i] = memset(malloc(4 * MIB), i + 1, 4 * MIB);
    free(held[0]);
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        return puts("not allowed") < 0;
    for (int i = 0; i < 8; i++) {
        free(memset(malloc(4 * MIB), 1, 4 * MIB));
        memset(map(4 * MIB), 1, 4096);
    }
    for (int i = 1; late && i < 3; i++)
        CHECK(bytes_are(held[i], 4 * MIB, (unsigned char)(i + 1)));
    free(held[1]);
    if (held[2])
        CHECK(held[2] = realloc(held[2], 9 * MIB));
    file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file) && sscanf(line, "VmLck: %zu", &kb) != 1)
        ;
    CHECK(file && kb < 100000);
    return fclose(file) || puts("locked") < 0;
}

/* Around a unit and around none: two blocks of each size, every byte of which is the caller's. */
static void check_sizes(void)
{
    const size_t sizes[] = {0,           1,       2 * MIB - 1, 2 * MIB,     2 * MIB + 1,
                            4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 6 * MIB - 64};

    for (int turn = 0; turn < 6; turn++) {
        unsigned char *grows, *next;

        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            size_t size = sizes[i];
            unsigned char *zero = calloc(size, 1), *any = malloc(size), *more;

            CHECK(zero && any && bytes_are_zero(zero, size));
            CHECK(malloc_usable_size(zero) >= size && malloc_usable_size(any) >= size);
            memset(any, 2, size);
            memset(zero, 1, malloc_usable_size(zero));
            CHECK(bytes_are(any, size, 2));
            memset(any, 2, malloc_usable_size(any));
            more = realloc(any, size + 1);
            CHECK(more);
            more[size] = 3;
            CHECK(bytes_are(zero, size, 1) && bytes_are(more, size, 2));
            free(zero);
            free(more);
        }
        /* One that grows, and its neighbour, which begins where a unit does. */
        grows = malloc(6 * MIB - 4096);
        next = malloc(2 * MIB);
        memset(next, 9, 2 * MIB);
        grows = realloc(grows, 6 * MIB);
        memset(grows, 4, 6 * MIB);
        CHECK(bytes_are(next, 2 * MIB, 9));
        free(grows);
        free(next);
    }
    /* More than any pool or any machine has. */
    errno = 0;
    CHECK(!malloc((size_t)1 << 50) && errno == ENOMEM);
    CHECK(!calloc((size_t)1 << 25, (size_t)1 << 25) && !malloc(SIZE_MAX - 4096));
    CHECK(!aligned_alloc(4 * MIB, (size_t)1 << 50));
    CHECK(mmap(NULL, (size_t)1 << 50, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
          MAP_FAILED);
    CHECK(mmap(NULL, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
          errno == EINVAL);
}

/* Until nobody has any more, in blocks of a size that the pool serves and, between them, of one
 * that is too large for it; twice, for all must come back. Prints how many MiB there were. */
static int check_exhausted(void)
{
    static unsigned char *held[1000];
    size_t mib[2] = {0};

    for (int turn = 0; turn < 2; turn++) {
        size_t count = 0;

        for (; count < 1000; count++) {
            size_t bytes = count % 8 ? 4 * MIB : 40 * MIB;

            held[count] = turn ? malloc(bytes) : calloc(1, bytes);
            if (!held[count])
                break;
            CHECK(turn || bytes_are_zero(held[count], bytes));
            memset(held[count], (int)(count % 255) + 1, bytes);
            mib[turn] += bytes / MIB;
        }
        CHECK(count > 1 && count < 1000);
        while (count--) {
            size_t bytes = count % 8 ? 4 * MIB : 40 * MIB;

            CHECK(bytes_are(held[count], bytes, (unsigned char)(count % 255 + 1)));
            free(held[count]);
        }
    }
    /* What was freed is had again, but where it lies in pieces. */
    CHECK(mib[1] * 4 >= mib[0] * 3);
    return printf("exhausted %zu\n", mib[0]) < 0;
}

/* The program is another one while it, and a child of it, hold blocks. */
static int check_exec(char **argv)
{
    unsigned char *held[6];
    int status;
    pid_t child;

    for (size_t i = 0; i < 6; i++)
        CHECK(held[i] = memset(malloc(4 * MIB), 0xa5, 4 * MIB));
    child = fork();
    if (child) {
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
        for (size_t i = 0; i < 6; i++)
            CHECK(held[i][0] == 0xa5 && held[i][4 * MIB - 1] == 0xa5);
    } else {
        memset(held[1], 7, 4 * MIB);
    }
    execl(argv[0], argv[0], "sizes", (char *)NULL);
    return 1;
}

static void check_fork(void)
{
    unsigned char *p = calloc(8 * MIB, 1);
    int status;
    pid_t child;

    p[17] = 1;
    child = fork();
    if (!child) {
        unsigned char *q;

        CHECK(p[17] == 1);
        p[17] = 2;
        q = calloc(8 * MIB, 1);
        CHECK(q && bytes_are_zero(q, 8 * MIB));
        free(p);
        free(q);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    CHECK(p[17] == 1);
    free(p);
}

static int turns = 300;

static void *use(void *arg)
{
    uint64_t seed = (uintptr_t)arg + 1;
    unsigned char *held[4] = {0};
    size_t bytes[4] = {0};

    for (int i = 0; i < turns; i++) {
        size_t slot = next_random(&seed) % 4;

        for (size_t k = 0; held[slot] && k < bytes[slot]; k += 4096)
            CHECK(held[slot][k] == (unsigned char)(slot + (uintptr_t)arg * 4 + 1));
        free(held[slot]);
        bytes[slot] = 2 * MIB + next_random(&seed) % (6 * MIB);
        held[slot] = calloc(1, bytes[slot]);
        CHECK(held[slot] && bytes_are_zero(held[slot], bytes[slot]));
        memset(held[slot], (int)(slot + (uintptr_t)arg * 4 + 1), bytes[slot]);
    }
    for (size_t i = 0; i < 4; i++)
        free(held[i]);
    return NULL;
}

static void check_threads(void)
{
    pthread_t thread[4];

    for (uintptr_t i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, use, (void *)i));
    for (size_t i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    int clean;

    if (argc > 1 && !strcmp(argv[1], "locked"))
        return check_locked(argc > 2);
    if (argc > 1 && !strcmp(argv[1], "protected"))
        return check_protected();
    if (argc > 1 && !strcmp(argv[1], "exhausted"))
        return check_exhausted();
    if (argc > 1 && !strcmp(argv[1], "exec"))
        return check_exec(argv);
    if (argc > 1 && !strcmp(argv[1], "sizes")) {
        check_sizes();
        return puts("sizes") < 0;
    }
    if (argc > 1)
        turns = atoi(argv[1]);
    clean = clean_blocks();
    check_sizes();
    check_realloc();
    check_aligned();
    check_mmap(60);
    check_fork();
    check_threads();
    printf("blocks %d\n", clean);
    return 0;
}
