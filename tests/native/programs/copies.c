/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a known number of times and checks every byte, for the tests of the lever copy.
 *
 *   copies MODE   plain | threads | fork | overflow | exit
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

void *__memcpy_chk(void *dst, const void *src, size_t n, size_t room);

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "plain";
    static char small[8], large[16];
    pthread_t threads[200];
    int status = 0;

    if (strcmp(mode, "threads") == 0) {
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
