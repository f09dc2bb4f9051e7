/* SPDX-License-Identifier: Apache-2.0 */
/* The probe's commands about memory. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Sizes of 0 to 64 MiB, a third of them within a page of an edge of 2 MiB, most of the others
 * small. */
static size_t random_size(unsigned *seed)
{
    size_t edge = (1 + next_random(seed) % 4) * 2 * MIB;

    switch (next_random(seed) % 8) {
    case 0:
    case 1:
        return edge - 64 + next_random(seed) % 128;
    case 2:
        return edge + next_random(seed) % 4096;
    case 3:
        return MIB - 100 + next_random(seed) % 200;
    case 4:
        return next_random(seed) % 32 ? next_random(seed) % (4 * MIB)
                                      : next_random(seed) % (64 * MIB);
    default:
        return next_random(seed) % 5000;
    }
}

static int rounds;

static bool is_zero(const char *p, size_t size)
{
    size_t i;

    for (i = 0; i < size; i += 509) {
        if (p[i])
            return false;
    }
    return true;
}

static void *get_block(unsigned *seed, size_t size)
{
    size_t align = (size_t)16 << next_random(seed) % 18;
    void *p = NULL;

    switch (next_random(seed) % 6) {
    case 0:
        p = calloc(1 + size / 8, 8);
        CHECK(p && is_zero(p, size));
        break;
    case 1:
        CHECK(posix_memalign(&p, align, size) == 0);
        CHECK((uintptr_t)p % align == 0);
        break;
    case 2:
        p = memalign(align, size);
        CHECK((uintptr_t)p % align == 0);
        break;
    case 3:
        p = aligned_alloc(64, (size + 63) & ~(size_t)63);
        CHECK((uintptr_t)p % 64 == 0);
        break;
    default:
        p = malloc(size);
    }
    CHECK(p && (uintptr_t)p % 16 == 0 && malloc_usable_size(p) >= size);
    return p;
}

static void *torture_one(void *index)
{
    enum { LIVE = 24 };
    struct {
        void *p;
        size_t size;
    } live[LIVE] = {{NULL, 0}};
    unsigned seed = 17 + (unsigned)(size_t)index;
    int round, i;

    for (round = 0; round < rounds; round++) {
        unsigned tag = (unsigned)(i = (int)(next_random(&seed) % LIVE));
        size_t size = random_size(&seed);

        if (live[i].p) {
            CHECK(is_filled(live[i].p, live[i].size, tag));
            if (next_random(&seed) % 2) {
                size_t old = live[i].size;

                live[i].p = size ? realloc(live[i].p, size) : live[i].p;
                CHECK(live[i].p);
                if (size)
                    CHECK(is_filled(live[i].p, old < size ? old : size, tag));
                live[i].size = size ? size : old;
                fill(live[i].p, live[i].size, tag);
            } else {
                free(live[i].p);
                live[i].p = NULL;
            }
            continue;
        }
        live[i].p = get_block(&seed, size);
        live[i].size = size;
        fill(live[i].p, size, tag);
    }
    for (i = 0; i < LIVE; i++)
        free(live[i].p);
    return NULL;
}

static int torture(int argc, char **argv)
{
    CHECK(argc == 3);
    rounds = atoi(argv[2]);
    run_checked(torture_one, atoi(argv[1]));
    return 0;
}

/* What the C library promises about results and errno. */
static int contract(int argc, char **argv)
{
    static const size_t sizes[] = {1,           100,     2 * MIB - 1, 2 * MIB,
                                   2 * MIB + 1, 5 * MIB, 30 * MIB + 7};
    volatile size_t too_many = SIZE_MAX / 4,
                    too_large = SIZE_MAX - 100; /* unknown to the compiler */
    void *volatile huge, *volatile block;
    size_t i, align, seen = 0;
    void *p = NULL;

    (void)argc, (void)argv;
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        p = malloc(sizes[i]);
        CHECK(p && malloc_usable_size(p) >= sizes[i]);
        memset(p, 1, malloc_usable_size(p));
        errno = 77;
        free(p);
        CHECK(errno == 77);
        for (align = 8; align <= 64 * MIB; align *= 2) {
            CHECK(posix_memalign(&p, align, sizes[i]) == 0 && (uintptr_t)p % align == 0);
            memset(p, 1, sizes[i]);
            free(p);
        }
        p = valloc(sizes[i]);
        CHECK((uintptr_t)p % 4096 == 0);
        free(p);
        p = pvalloc(sizes[i]);
        CHECK((uintptr_t)p % 4096 == 0 && malloc_usable_size(p) >= ((sizes[i] + 4095) & ~4095ul));
        free(p);
    }
    CHECK(malloc_usable_size(NULL) == 0);
    free(NULL);

    errno = 0;
    huge = malloc(PTRDIFF_MAX);
    CHECK(!huge && errno == ENOMEM);
    errno = 0;
    huge = malloc((size_t)1 << 46);
    CHECK(!huge && errno == ENOMEM);
    errno = 0;
    huge = calloc(too_many, 8);
    CHECK(!huge && errno == ENOMEM);
    errno = 0;
    huge = reallocarray(NULL, too_many, 8);
    CHECK(!huge && errno == ENOMEM);
    CHECK(posix_memalign(&p, 24, 4 * MIB) == EINVAL);
    CHECK(posix_memalign(&p, 4, 4 * MIB) == EINVAL);

    block = malloc(4 * MIB);
    fill(block, 4 * MIB, 9);
    errno = 0;
    huge = realloc(block, (size_t)1 << 46);
    CHECK(!huge && errno == ENOMEM && is_filled(block, 4 * MIB, 9));
    huge = realloc(block, too_large);
    CHECK(!huge && errno == ENOMEM && is_filled(block, 4 * MIB, 9));
    huge = realloc(block, 0);
    CHECK(!huge);

    /* Blocks of one size, all alive: how many begin at different lines of a page. */
    {
        unsigned char line[64] = {0};

        for (i = 0; i < 16; i++) {
            p = malloc(8 * MIB);
            line[(uintptr_t)p / 64 % 64] = 1;
        }
        for (i = 0; i < 64; i++)
            seen += line[i];
    }
    printf("%zu\n", seen);
    return 0;
}

static int calloc_after_free(int argc, char **argv)
{
    size_t size, k;

    (void)argc, (void)argv;
    for (k = 0; k < 40; k++) {
        size = 2 * MIB + k * 700001 % (9 * MIB);
        char *p = calloc(1, size);

        CHECK(p && p[0] == 0 && memcmp(p, p + 1, size - 1) == 0);
        memset(p, 0xaa, malloc_usable_size(p));
        free(p);
    }
    return 0;
}

/* Touches one page in each 2 MiB of a block of argv[1] MiB; prints the resident size in kB. */
static int sparse(int argc, char **argv)
{
    size_t bytes = strtoul(argv[1], NULL, 10) * MIB, i;
    char *p = malloc(bytes);

    CHECK(argc == 2 && p);
    for (i = 0; i < bytes; i += 2 * MIB)
        p[i] = 1;
    printf("%ld\n", proc_kb("/proc/self/smaps_rollup", "Rss:"));
    return 0;
}

static void *dense_block(const char *how, size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS, rw = PROT_READ | PROT_WRITE;
    void *room;

    if (strcmp(how, "mmap") == 0)
        return mmap(NULL, bytes, rw, flags, -1, 0);
    if (strcmp(how, "arena") == 0)
        return mmap(NULL, bytes, rw, flags | MAP_NORESERVE, -1, 0);
    if (strcmp(how, "committed") != 0)
        return malloc(bytes);
    room = mmap(NULL, bytes, PROT_NONE, flags | MAP_NORESERVE, -1, 0);
    CHECK(room != MAP_FAILED);
    return mmap(room, bytes, rw, flags | MAP_FIXED, -1, 0);
}

/* Fills a block of argv[2] MiB got by argv[1]; prints resident and huge kB, and resident kB
 * after. */
static int dense(int argc, char **argv)
{
    bool mapped = argc == 3 && strcmp(argv[1], "malloc") != 0;
    size_t bytes = strtoul(argv[2], NULL, 10) * MIB;
    void *p = dense_block(argv[1], bytes);

    CHECK(p && p != MAP_FAILED);
    memset(p, 1, bytes);
    printf("%ld %ld ", proc_kb("/proc/self/smaps_rollup", "Rss:"),
           proc_kb("/proc/self/smaps_rollup", "AnonHugePages:"));
    if (mapped)
        CHECK(munmap(p, bytes) == 0);
    else
        free(p);
    printf("%ld\n", proc_kb("/proc/self/smaps_rollup", "Rss:"));
    return 0;
}

/* Switches huge pages off as Ruby does, takes a block of argv[1] MiB, and prints how many kB of it are on
 * huge pages, and whether the kernel can leave those alone that were asked for. */
static int switched_off(int argc, char **argv)
{
    size_t bytes = strtoul(argv[1], NULL, 10) * MIB;
    bool able = syscall(SYS_prctl, PR_SET_THP_DISABLE, 1UL, 2UL, 0UL, 0UL) == 0;
    char *p;

    CHECK(argc == 2 && prctl(PR_SET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL) == 0);
    CHECK(prctl(PR_GET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL) == 0);
    errno = EXDEV;
    CHECK(prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL) == 0 && errno == EXDEV);
    CHECK(prctl(PR_GET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL) == 1);
    CHECK(prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 1UL, 0UL) == -1 && errno == EINVAL);
    p = malloc(bytes);
    CHECK(p);
    memset(p, 1, bytes);
    printf("%ld %d\n", proc_kb("/proc/self/smaps_rollup", "AnonHugePages:"), able);
    CHECK(prctl(PR_SET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL) == 0);
    CHECK(prctl(PR_GET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL) == 0);
    return 0;
}

/* Holds argv[1] MiB in small blocks; prints how many kB of them are on huge pages. */
static int small_blocks(int argc, char **argv)
{
    size_t bytes = strtoul(argv[1], NULL, 10) * MIB, size = 1000, i;

    CHECK(argc == 2);
    for (i = 0; i < bytes / size; i++) {
        void *p = malloc(size);

        CHECK(p);
        memset(p, 1, size);
    }
    printf("%ld\n", proc_kb("/proc/self/smaps_rollup", "AnonHugePages:"));
    return 0;
}

/* A vector that grows by reallocs; prints how many kB were resident at the most. */
static int growing(int argc, char **argv)
{
    size_t size = 1000, old, k;
    char *p = malloc(size), *others[8];

    (void)argc, (void)argv;
    fill(p, size, 5);
    while (size < 100 * MIB) {
        old = size;
        size = size * 9 / 8 + 777;
        p = realloc(p, size);
        CHECK(p && is_filled(p, old, 5));
        fill(p, size, 5);
        k = size % 8;
        others[k] = malloc(2 * MIB + k * 4096); /* lies in the way of growing in place */
        CHECK(others[k]);
        fill(others[k], 2 * MIB, 6);
        CHECK(is_filled(others[k], 2 * MIB, 6));
        if (size % 3)
            free(others[k]);
    }
    while (size > 3000) {
        size = size / 3 * 2;
        p = realloc(p, size);
        CHECK(p && is_filled(p, size, 5));
    }
    free(p);
    printf("%ld\n", proc_kb("/proc/self/status", "VmHWM:"));
    return 0;
}

/* Under an RLIMIT_AS of 1 GiB a block of 700 MiB must be had, as without us, and after that memory
 * must run out with ENOMEM and not otherwise. */
static int limited(int argc, char **argv)
{
    struct rlimit limit = {MIB << 10, MIB << 10};
    char *first, *p;
    int count = 0;

    (void)argc, (void)argv;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    first = malloc(10 * MIB);
    CHECK(first);
    fill(first, 10 * MIB, 1);
    p = malloc(700 * MIB);
    CHECK(p);
    p[0] = p[700 * MIB - 1] = 1;
    free(p);
    p = mmap(NULL, 700 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    CHECK(munmap(p, 700 * MIB) == 0);
    while ((p = malloc(20 * MIB))) {
        fill(p, 20 * MIB, 2);
        count++;
        CHECK(count < 60);
    }
    CHECK(errno == ENOMEM && count > 30);
    CHECK(is_filled(first, 10 * MIB, 1));
    p = mmap(NULL, 700 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p == MAP_FAILED && errno == ENOMEM);
    return 0;
}

/* mmap's own semantics: exact length, zeros, partial unmapping, protection, errors. */
static int mappings(int argc, char **argv)
{
    size_t length = 7 * MIB + 4096;
    unsigned char resident;
    int aligned = 0, i;
    char *p, *q;

    (void)argc, (void)argv;
    for (i = 0; i < 50; i++) {
        p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED && p[0] == 0 && p[length - 1] == 0);
        aligned += (uintptr_t)p % (2 * MIB) == 0;
        fill(p, length, 3);
        CHECK(is_filled(p, length, 3));
        CHECK(munmap(p + 3 * MIB, MIB) == 0);
        CHECK(is_filled(p, 3 * MIB, 3) && p[4 * MIB] == p[4 * MIB]);
        CHECK(mincore(p + 3 * MIB, 4096, &resident) == -1 && errno == ENOMEM);
        CHECK(munmap(p, length) == 0);
        CHECK(mincore(p, 4096, &resident) == -1 && errno == ENOMEM);
    }
    p = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
             0);
    CHECK(p != MAP_FAILED && mincore(p + 3 * MIB, 4096, &resident) == 0 && resident == 1);
    q = mremap(p, 4 * MIB, 12 * MIB, MREMAP_MAYMOVE);
    CHECK(q != MAP_FAILED && munmap(q, 12 * MIB) == 0);
    for (i = 0; i < 20; i++) {
        p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED);
        fill(p, length, 4);
        q = mremap(p, length, length + 16 * MIB, MREMAP_MAYMOVE);
        CHECK(q != MAP_FAILED && is_filled(q, length, 4) && q[length + 16 * MIB - 1] == 0);
    }
    CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
          errno == EINVAL);
    CHECK(mmap(NULL, (size_t)1 << 47, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
              MAP_FAILED &&
          errno == ENOMEM);
    p = mmap(NULL, 4 * MIB, PROT_READ, MAP_PRIVATE, -1, 0);
    CHECK(p == MAP_FAILED && errno == EBADF);
    printf("%d\n", aligned);
    return 0;
}

/* What a program may do to a small mapping concerns that mapping alone, whatever lies beside it. */
static char *map_shared(int fd, size_t length, off_t offset)
{
    int flags = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    char *p;

    errno = EXDEV;
    p = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd, offset);
    CHECK(p != MAP_FAILED && errno == EXDEV);
    return p;
}

/* What one process writes the other sees, and a fork copies nothing. */
static void check_between_processes(char *p, size_t length)
{
    int status;
    pid_t child;

    fill(p, length, 1);
    child = fork();
    if (child == 0) {
        CHECK(is_filled(p, length, 1));
        fill(p, length, 2);
        CHECK(munmap(p, length) == 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(is_filled(p, length, 2));
}

/* Two mappings and the file itself are one memory, of which holes, its end and a private copy are as
 * mmap(2), ftruncate(2) and madvise(2) have them. */
static void check_file(int fd, size_t length)
{
    int rw = PROT_READ | PROT_WRITE;
    char *p = map_shared(fd, length, 0), *q = map_shared(fd, length - 3 * PAGE, 3 * PAGE), *own, *r;
    char byte = 0;

    fill(p, length, 3);
    CHECK(!memcmp(q, p + 3 * PAGE, length - 3 * PAGE));
    own = mmap(NULL, length, rw, MAP_PRIVATE, fd, 0);
    CHECK(own != MAP_FAILED && own[0] == p[0]);
    own[0] = (char)~p[0];
    CHECK(pread(fd, &byte, 1, 5 * MIB + 7) == 1 && byte == p[5 * MIB + 7]);
    CHECK(pwrite(fd, "okosu", 5, 2 * MIB - 2) == 5 && !memcmp(p + 2 * MIB - 2, "okosu", 5));
    CHECK(q[2 * MIB - 2 - 3 * PAGE] == 'o' && own[0] == (char)~p[0]);
    CHECK(madvise(p + MIB, 2 * MIB, MADV_REMOVE) == 0);
    CHECK(p[MIB] == 0 && p[3 * MIB - 1] == 0 && q[2 * MIB] == 0 && p[3 * MIB] != 0);
    byte = p[3 * MIB];
    CHECK(madvise(p, length, MADV_DONTNEED) == 0 && p[3 * MIB] == byte);
    CHECK(ftruncate(fd, 4 * MIB + 5) == 0 && ftruncate(fd, (off_t)length) == 0);
    CHECK(p[4 * MIB + 5] == 0 && p[length - 1] == 0 && p[3 * MIB] == byte);
    CHECK(mprotect(p + 2 * MIB, MIB, PROT_READ) == 0 && p[3 * MIB - 1] == 0);
    r = mremap(q, length - 3 * PAGE, length - 3 * PAGE + 2 * MIB, MREMAP_MAYMOVE);
    CHECK(r != MAP_FAILED && r[3 * MIB - 3 * PAGE] == byte);
    CHECK(munmap(r, length - 3 * PAGE + 2 * MIB) == 0 && munmap(own, length) == 0);
    CHECK(mmap(p + MIB, MIB, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + MIB);
    memset(p + MIB, 9, MIB);
    CHECK(munmap(p, MIB) == 0 && munmap(p + 2 * MIB, length - 2 * MIB) == 0);
    CHECK(p[MIB] == 9 && munmap(p + MIB, MIB) == 0);
    CHECK(pread(fd, &byte, 1, MIB) == 1 && byte == 0);
}

/* A segment of System V is one memory wherever and however often it is attached, until it is detached;
 * one that cannot be attached leaves its reason. */
static void check_segment(size_t length)
{
    int id = shmget(IPC_PRIVATE, length, IPC_CREAT | 0600);
    char *p, *q, *r, *over;

    CHECK(id >= 0);
    errno = EXDEV;
    p = shmat(id, NULL, 0);
    q = shmat(id, NULL, SHM_RDONLY);
    CHECK(p != (char *)-1 && q != (char *)-1 && p[0] == 0 && p[length - 1] == 0 && errno == EXDEV);
    check_between_processes(p, length);
    CHECK(!memcmp(p, q, length));
    over = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(over != MAP_FAILED);
    memset(over, 7, length);
    r = shmat(id, over, SHM_REMAP);
    CHECK(r == over && !memcmp(r, p, length));
    r[MIB] = 11;
    CHECK(p[MIB] == 11 && q[MIB] == 11);
    CHECK(shmdt(r) == 0 && shmdt(r) == -1 && errno == EINVAL);
    CHECK(shmdt(p) == 0 && shmdt(q) == 0 && shmctl(id, IPC_RMID, NULL) == 0);
    errno = 0;
    CHECK(shmat(id, NULL, 0) == (void *)-1 && (errno == EINVAL || errno == EIDRM));
}

static int shared_mappings(int argc, char **argv)
{
    size_t length = 12 * MIB + 5 * PAGE;
    char name[] = "/tmp/okosu-probe-XXXXXX", path[64], *p;
    int fd, i;

    (void)argc, (void)argv;
    for (i = 0; i < 3; i++) {
        p = map_shared(-1, length, 0);
        CHECK(p[0] == 0 && p[length - 1] == 0);
        check_between_processes(p, length);
        CHECK(munmap(p, length) == 0);
        fd = memfd_create("probe", MFD_CLOEXEC);
        CHECK(fd >= 0 && ftruncate(fd, (off_t)length) == 0);
        check_file(fd, length);
        CHECK(close(fd) == 0);
        snprintf(path, sizeof(path), "/okosu-probe-%d", (int)getpid());
        fd = shm_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
        CHECK(fd >= 0 && shm_unlink(path) == 0 && ftruncate(fd, (off_t)length) == 0);
        check_file(fd, length);
        CHECK(close(fd) == 0);
        check_segment(length);
    }
    fd = mkstemp(name);
    CHECK(fd >= 0 && unlink(name) == 0 && ftruncate(fd, (off_t)length) == 0);
    p = map_shared(fd, length, 0);
    check_between_processes(p, length);
    CHECK(mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, -1, 0) == MAP_FAILED);
    CHECK(errno == EBADF);
    return 0;
}

static char *attach_segment(size_t length)
{
    int id = shmget(IPC_PRIVATE, length, IPC_CREAT | 0600);
    char *p = shmat(id, NULL, 0);

    CHECK(id >= 0 && p != (char *)-1 && shmctl(id, IPC_RMID, NULL) == 0);
    return p;
}

/* Holds shared memory of that many MiB in each of three ways, and prints how much of it lies on huge
 * pages. A segment that is detached first costs no budget. */
static int shared_huge(int argc, char **argv)
{
    size_t length = (argc > 1 ? strtoul(argv[1], NULL, 10) : 16) * MIB;
    int fd = memfd_create("probe", MFD_CLOEXEC);
    char line[256], *p, *q, *r;
    unsigned long kb = 0;
    FILE *file;

    CHECK(shmdt(attach_segment(length)) == 0);
    p = map_shared(-1, length, 0);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)length) == 0);
    q = map_shared(fd, length, 0);
    r = attach_segment(length);
    memset(p, 1, length);
    memset(q, 1, length);
    memset(r, 1, length);
    file = fopen("/proc/self/smaps_rollup", "re");
    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file))
        sscanf(line, "ShmemPmdMapped: %lu kB", &kb);
    fclose(file);
    printf("%lu\n", kb);
    return 0;
}

static int small_mappings(int argc, char **argv)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS, rw = PROT_READ | PROT_WRITE, status, i;
    size_t length = 256 * 1024, odd = 300 * 1024 + 1;
    static const bool changed[40] = {
        [3] = true, [5] = true, [7] = true, [9] = true, [15] = true, [17] = true};
    char *p[40], *q;
    pid_t child;

    (void)argc, (void)argv;
    for (i = 0; i < 40; i++) {
        errno = EXDEV;
        p[i] = mmap(NULL, i % 2 ? length : odd, rw, flags, -1, 0);
        CHECK(p[i] != MAP_FAILED && errno == EXDEV && (uintptr_t)p[i] % 4096 == 0);
        CHECK(p[i][0] == 0 && p[i][length - 1] == 0);
        fill(p[i], length, (unsigned)i);
    }
    CHECK(mprotect(p[3], length, PROT_NONE) == 0 && munmap(p[5], length) == 0);
    CHECK(madvise(p[7], length, MADV_DONTNEED) == 0 && p[7][0] == 0 && p[7][length - 1] == 0);
    CHECK(mmap(p[9], length, PROT_READ, flags | MAP_FIXED, -1, 0) == p[9] && p[9][8192] == 0);
    CHECK(madvise(p[11], length, MADV_DONTFORK) == 0 && mlock(p[13], 4096) == 0);
    q = mremap(p[15], length, 3 * MIB, MREMAP_MAYMOVE);
    CHECK(q != MAP_FAILED && is_filled(q, length, 15) && q[3 * MIB - 1] == 0);
    CHECK(munmap(q, 3 * MIB) == 0);
    CHECK(mremap(p[17], length, 4096, 0) == p[17]);
    for (i = 0; i < 40; i++)
        CHECK(changed[i] || is_filled(p[i], length, (unsigned)i));
    child = fork();
    if (child == 0) {
        for (i = 18; i < 40; i++) {
            CHECK(is_filled(p[i], length, (unsigned)i));
            fill(p[i], length, 100);
            CHECK(munmap(p[i], i % 2 ? length : odd) == 0);
        }
        for (i = 0; i < 100; i++) {
            q = mmap(NULL, length, rw, flags, -1, 0);
            CHECK(q != MAP_FAILED && q[0] == 0 && q[length - 1] == 0);
            fill(q, length, 7);
        }
        _exit(0);
    }
    for (i = 0; i < 100; i++) {
        q = mmap(NULL, length, rw, flags, -1, 0);
        CHECK(q != MAP_FAILED && q[0] == 0 && q[length - 1] == 0);
        fill(q, length, 8);
        CHECK(munmap(q, length) == 0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    for (i = 18; i < 40; i++)
        CHECK(is_filled(p[i], length, (unsigned)i));
    return 0;
}

/* Arenas as allocators and runtimes make them: without a reserve, cut to what is aligned, at a place
 * of their own, and committed in address space that was reserved before. */
static int arenas(int argc, char **argv)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, rw = PROT_READ | PROT_WRITE, i;
    unsigned char resident;
    char *p, *q;

    (void)argc, (void)argv;
    for (i = 0; i < 20; i++) {
        p = mmap(NULL, 8 * MIB, rw, flags, -1, 0);
        CHECK(p != MAP_FAILED && p[0] == 0 && p[8 * MIB - 1] == 0);
        fill(p, 8 * MIB, 3);
        CHECK(munmap(p, MIB) == 0 && munmap(p + 7 * MIB, MIB) == 0);
        memset(p + MIB, i + 1, 6 * MIB);
        CHECK(mincore(p, 4096, &resident) == -1 && errno == ENOMEM);
        CHECK(mincore(p + 7 * MIB, 4096, &resident) == -1 && errno == ENOMEM);
        CHECK(madvise(p + 2 * MIB, 4096, MADV_DONTNEED) == 0 && p[2 * MIB] == 0);
        CHECK(p[2 * MIB - 1] == i + 1 && p[2 * MIB + 4096] == i + 1 && p[7 * MIB - 1] == i + 1);
        CHECK(munmap(p + MIB, 6 * MIB) == 0);
    }
    p = mmap(NULL, 64 * MIB, PROT_NONE, flags, -1, 0);
    CHECK(p != MAP_FAILED);
    for (i = 0; i < 20; i++) {
        q = mmap(p + 4096, 32 * MIB, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        CHECK(q == p + 4096 && q[0] == 0 && q[32 * MIB - 1] == 0);
        fill(q, 32 * MIB, 5);
        CHECK(mmap(q, MIB, rw, flags | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED &&
              errno == EEXIST);
        CHECK(is_filled(q, 32 * MIB, 5));
        CHECK(mmap(q, 32 * MIB, PROT_NONE, flags | MAP_FIXED, -1, 0) == q);
    }
    q = mmap(p + 40 * MIB, 8 * MIB, rw, flags | MAP_FIXED | MAP_POPULATE, -1, 0);
    CHECK(q == p + 40 * MIB && mincore(q + 5 * MIB, 4096, &resident) == 0 && resident == 1);
    CHECK(munmap(p, 64 * MIB) == 0);
    CHECK(mmap(p + 1, 8 * MIB, rw, flags | MAP_FIXED, -1, 0) == MAP_FAILED && errno == EINVAL);
    /* Only a hint: where the kernel puts it is its own business, but it is there. */
    q = mmap(p + 4096, 8 * MIB, rw, flags, -1, 0);
    CHECK(q != MAP_FAILED && (fill(q, 8 * MIB, 9), is_filled(q, 8 * MIB, 9)));
    CHECK(munmap(q, 8 * MIB) == 0 && mincore(q, 4096, &resident) == -1);
    return 0;
}

const struct command memory_commands[] = {
    {"torture", torture},
    {"contract", contract},
    {"calloc", calloc_after_free},
    {"sparse", sparse},
    {"dense", dense},
    {"switched-off", switched_off},
    {"growing", growing},
    {"limited", limited},
    {"mappings", mappings},
    {"small-mappings", small_mappings},
    {"shared-mappings", shared_mappings},
    {"shared-huge", shared_huge},
    {"arenas", arenas},
    {"small-blocks", small_blocks},
    {NULL, NULL},
};
