/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a known number of times and checks every byte, for the tests of the lever copy.
 *
 *   copies MODE   plain | threads | fork | overflow | exit | overlap
 *
 * Each pass of plain: 3 memcpy of 100 bytes, 2 memmove (overlapping) of 5000, 1 mempcpy of 64, 4
 * memset of 2048, 1000 passes. The compiler must not replace any of them (-fno-builtin). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PASSES 1000
#define ROOM 8192

static void fail(const char *what)
{
    fprintf(stderr, "copies: %s went wrong\n", what);
    _exit(1);
}

static void expect(const unsigned char *p, size_t n, size_t from, const char *what)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != (unsigned char)(from + i))
            fail(what);
    }
}

static void fill(unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)i;
}

static void *work(void *unused)
{
    unsigned char *a = malloc(ROOM), *b = malloc(ROOM);

    for (int pass = 0; pass < PASSES; pass++) {
        fill(a, ROOM);
        for (int i = 0; i < 3; i++) {
            if (memcpy(b + i, a, 100) != b + i)
                fail("memcpy");
            expect(b + i, 100, 0, "memcpy");
        }
        memmove(a + 7, a, 5000);
        expect(a + 7, 5000, 0, "memmove up");
        memmove(a, a + 7, 5000);
        expect(a, 5000, 0, "memmove down");
        if (mempcpy(b, a, 64) != b + 64)
            fail("mempcpy");
        for (int i = 0; i < 4; i++) {
            memset(b, i, 2048);
            if (b[0] != i || b[2047] != i)
                fail("memset");
        }
    }
    free(a);
    free(b);
    return unused;
}

#if defined(__x86_64__)
/* What programs that were linked before 2011 call: memmove by another name. */
void *old_memcpy(void *dst, const void *src, size_t n);
__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");
#else
#define old_memcpy memcpy
#endif
void *__memcpy_chk(void *dst, const void *src, size_t n, size_t room);
void *__mempcpy_chk(void *dst, const void *src, size_t n, size_t room);

static void *checked_memcpy(void *dst, const void *src, size_t n)
{
    return __memcpy_chk(dst, src, n, n);
}

/* From the end of what they copied back to its start. */
static void *end_memcpy(void *dst, const void *src, size_t n)
{
    return (char *)mempcpy(dst, src, n) - n;
}

static void *checked_end_memcpy(void *dst, const void *src, size_t n)
{
    return (char *)__mempcpy_chk(dst, src, n, n) - n;
}

/* Bytes that repeat at no distance used here. */
static unsigned char scrambled(size_t i)
{
    return (unsigned char)(i * 2654435761u >> 15);
}

/* Copies within `room` bytes, where source and target overlap, and looks at every byte. */
static void copy_within(void *copy(void *, const void *, size_t), size_t to, size_t from, size_t n)
{
    enum { AROUND = 64 };
    size_t room = (to > from ? to : from) + n + AROUND;
    unsigned char *p = malloc(room);
    size_t i;

    for (i = 0; i < room; i++)
        p[i] = scrambled(i);
    if (copy(p + to, p + from, n) != p + to)
        fail("the result of an overlapping memcpy");
    for (i = 0; i < room; i++) {
        if (p[i] != scrambled(i >= to && i < to + n ? i - to + from : i))
            fail("an overlapping memcpy");
    }
    free(p);
}

/* Every function of memcpy's kin, over sizes that each class of routines serves, at distances
 * around those of vectors, lines and pages, either way. */
static void overlap(void)
{
    static const size_t sizes[] = {1,      5,       16,      33,      64,    100,   129,
                                   256,    257,     512,     513,     1000,  2048,  4096,
                                   8191,   10923,   16384,   16385,   20000, 32768, 65537,
                                   300000, 1048577, 5000000, 17000001};
    static const size_t distances[] = {1,    2,    7,    8,    15,   16,    31,  32,
                                       33,   63,   64,   65,   127,  128,   255, 256,
                                       1000, 2048, 4095, 4096, 4097, 100000};
    static void *(*const copies[])(void *, const void *, size_t) = {
        memcpy, old_memcpy, checked_memcpy, end_memcpy, checked_end_memcpy};
    enum { FUNCTIONS = sizeof copies / sizeof *copies };

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
            size_t n = sizes[s], distance = distances[d], at = 3 + (s * 13 + d * 29) % 64;

            /* The largest copies take their time: a few distances, and one function each. */
            if (distance >= n || (n > 100000 && d % 5))
                continue;
            for (size_t f = 0; f < FUNCTIONS; f++) {
                if (n > 100000 && f != (s + d) % FUNCTIONS)
                    continue;
                copy_within(copies[f], at + distance, at, n);
                copy_within(copies[f], at, at + distance, n);
            }
        }
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "plain";
    static char small[8], large[16];
    pthread_t threads[200];
    int status = 0;

    if (strcmp(mode, "many") == 0) {
        for (int i = 0; i < 300000; i++)
            memcpy(large, "fifteen letters", sizeof(large));
        if (fork() == 0) {
            work(NULL);
            exit(0);
        }
        wait(&status);
    } else if (strcmp(mode, "threads") == 0) {
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    } else if (strcmp(mode, "fork") == 0) {
        work(NULL);
        if (fork() == 0) {
            work(NULL);
            exit(0);
        }
        wait(&status);
    } else if (strcmp(mode, "overlap") == 0) {
        overlap();
    } else if (strcmp(mode, "overflow") == 0) {
        __memcpy_chk(small, large, (size_t)argc * 8, sizeof(small));
    } else {
        work(NULL);
    }
    puts("copied");
    fflush(stdout);
    if (strcmp(mode, "exit") == 0)
        _exit(0);
    return status;
}
