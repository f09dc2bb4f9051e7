/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs about huge pages cleared ahead share: the pool's files, and pages that are
 * scanned in full when they come and filled in full before they go. */
#ifndef OKOSU_ZERO_PAGES_H
#define OKOSU_ZERO_PAGES_H

#include "work.h"

#include <stdint.h>

/* Of which size pages are, unless who includes this says another: the size itself, the pool's folder,
 * and mmap()'s flag. */
#ifndef ZERO_PAGE
#define ZERO_PAGE ((size_t)2 << 20)
#define ZERO_POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/"
#define ZERO_SIZE 0
#endif
#define ZERO_WORDS (ZERO_PAGE / sizeof(uint64_t))
#define ZERO_SMALL_PAGE 4096

static inline void zero_path(char *path, size_t size, const char *file)
{
    snprintf(path, size, "%s%s", file[0] == '/' ? "" : ZERO_POOL, file);
}

/* Write a text into a file of the pool, or into one named in full; false if the kernel refuses. */
static inline int zero_try(const char *file, const char *text)
{
    char path[256];

    zero_path(path, sizeof(path), file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        work_fail(path);
    ssize_t put = write(fd, text, strlen(text));
    close(fd);
    return put == (ssize_t)strlen(text);
}

static inline void zero_set(const char *file, const char *text)
{
    if (!zero_try(file, text))
        work_fail(file);
}

static inline void zero_set_number(const char *file, long number)
{
    char text[32];

    snprintf(text, sizeof(text), "%ld", number);
    zero_set(file, text);
}

static inline void zero_read(const char *file, char *text, size_t size)
{
    char path[256];

    zero_path(path, sizeof(path), file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t all = 0;
    ssize_t got = fd < 0 ? -1 : 1;
    /* The kernel gives some files a page at a time. */
    while (got > 0 && all < size - 1) {
        got = read(fd, text + all, size - 1 - all);
        all += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        work_fail(path);
    text[all] = 0;
    close(fd);
}

static inline long zero_number(const char *file)
{
    char text[64];

    zero_read(file, text, sizeof(text));
    return strtol(text, NULL, 10);
}

/* One number of a file that has a name and a number in each line. */
static inline long zero_line(const char *file, const char *name)
{
    char text[16384], wanted[64];

    zero_read(file, text, sizeof(text));
    snprintf(wanted, sizeof(wanted), "%s ", name);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (!strncmp(line, wanted, strlen(wanted)))
            return strtol(line + strlen(wanted), NULL, 10);
    fprintf(stderr, "%s has no %s\n", file, name);
    exit(1);
}

static inline long zero_stat(const char *name)
{
    return zero_line("zero_stats", name);
}

static inline void zero_sleep_ms(long ms)
{
    struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&pause, NULL);
}

/* Wait until a file of the pool says that so many pages are clean; the program ends if it does not
 * after a while. */
static inline void zero_wait_count(const char *file, long pages)
{
    for (int tries = 0; zero_number(file) < pages; tries++) {
        if (tries > 3000) {
            fprintf(stderr, "only %ld of %ld pages are clean\n", zero_number(file), pages);
            exit(1);
        }
        zero_sleep_ms(10);
    }
}

static inline void zero_wait_clean(long pages)
{
    zero_wait_count("zeroed_hugepages", pages);
}

/* Whether ENGINE of a program's words is `thread`: what clears on a kernel that has the series as it
 * is to be sent, which has no engines. */
static inline int zero_by_thread(const char *engine)
{
    return !strcmp(engine, "thread");
}

/* Have so many pages cleared ahead from now on. What share of a CPU's time the thread takes for it
 * is left as it is. */
static inline void zero_ahead(const char *engine, long pages)
{
    if (zero_by_thread(engine)) {
        zero_set_number("prezero_hugepages", pages);
        return;
    }
    zero_set_number("zero_target", pages);
    zero_set("zero_engine", engine);
}

static inline uint64_t *zero_map(size_t pages, int flags)
{
    void *at = mmap(NULL, pages * ZERO_PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | ZERO_SIZE | flags, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

static inline void zero_unmap(uint64_t *at, size_t pages)
{
    if (munmap(at, pages * ZERO_PAGE))
        work_fail("munmap");
}

static inline uint64_t *zero_page_of(uint64_t *at, size_t page)
{
    return at + page * ZERO_WORDS;
}

/* The number of the page of memory that is mapped there. */
static inline uint64_t zero_frame(const void *at)
{
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry;
    off_t where = (off_t)((uintptr_t)at / ZERO_SMALL_PAGE * sizeof(entry));

    if (fd < 0 || pread(fd, &entry, sizeof(entry), where) != sizeof(entry))
        work_fail("/proc/self/pagemap");
    close(fd);
    return entry & ((UINT64_C(1) << 55) - 1);
}

/* Every word of a page is read: one that is not 0 ends the program. */
static inline void zero_scan(const uint64_t *page, const char *what)
{
    for (size_t i = 0; i < ZERO_WORDS; i++)
        if (page[i]) {
            fprintf(stderr, "%s: a new page has %016llx at %zu\n", what,
                    (unsigned long long)page[i], i * sizeof(*page));
            exit(1);
        }
}

static inline uint64_t zero_word(uint64_t seed, size_t i)
{
    return (seed << 32 | 1) + i * UINT64_C(0x100000002);
}

static inline void zero_fill(uint64_t *page, uint64_t seed)
{
    for (size_t i = 0; i < ZERO_WORDS; i++)
        page[i] = zero_word(seed, i);
}

/* Every word of a page is what zero_fill() wrote, or the program ends. */
static inline void zero_verify(const uint64_t *page, uint64_t seed, const char *what)
{
    for (size_t i = 0; i < ZERO_WORDS; i++)
        if (page[i] != zero_word(seed, i)) {
            fprintf(stderr, "%s: a page has %016llx at %zu, and %016llx was written\n", what,
                    (unsigned long long)page[i], i * sizeof(*page),
                    (unsigned long long)zero_word(seed, i));
            exit(1);
        }
}

#endif
