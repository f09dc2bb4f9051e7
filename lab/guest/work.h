/* SPDX-License-Identifier: Apache-2.0 */
/* What the workloads share: their arguments, how they fail, and the one line that they print.
 *
 * A workload is a static program that does fixed work, so that two kernels can be compared by its
 * time: WORK [SIZE] REPETITIONS. It checks the data that went through the kernel and exits 1 where
 * something is wrong. The line on stdout is {"ops": N, "seconds": S, "bytes": B}: operations (what
 * an operation is, each program says), wall seconds of the repetitions without the set-up, and
 * bytes that the kernel was asked to copy, 0 where the program asks for no copy. */
#ifndef OKOSU_WORK_H
#define OKOSU_WORK_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* End the program with the reason of the last system call. */
__attribute__((noreturn)) static inline void work_fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* End the program because data came back changed. */
__attribute__((noreturn)) static inline void work_wrong(const char *what)
{
    fprintf(stderr, "%s: the data are wrong\n", what);
    exit(1);
}

/* A whole number from 1 to a thousand million; anything else ends the program with status 2. */
static inline long work_number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end || value < 1 || value > 1000000000) {
        fprintf(stderr, "%s: not a whole number from 1 to 1000000000\n", text);
        exit(2);
    }
    return value;
}

/* Read `count` numbers, which `usage` names, into `at`; end the program where there are other
 * arguments. */
static inline void work_arguments(int argc, char **argv, const char *usage, int count, long *at)
{
    if (argc != count + 1) {
        fprintf(stderr, "usage: %s %s\n", argv[0], usage);
        exit(2);
    }
    for (int i = 0; i < count; i++)
        at[i] = work_number(argv[i + 1]);
}

static inline double work_now(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now))
        work_fail("clock_gettime");
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline void work_report(long ops, double seconds, long long bytes)
{
    printf("{\"ops\": %ld, \"seconds\": %.9f, \"bytes\": %lld}\n", ops, seconds, bytes);
    if (fflush(stdout))
        work_fail("stdout");
}

/* Read all `size` bytes, or end the program; work_write() likewise. */
static inline void work_read(int fd, void *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(fd, (char *)to + done, size - done);

        if (got < 0)
            work_fail("read");
        if (got == 0) {
            fputs("read: the end came too early\n", stderr);
            exit(1);
        }
        done += (size_t)got;
    }
}

static inline void work_write(int fd, const void *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(fd, (const char *)from + done, size - done);

        if (put <= 0)
            work_fail("write");
        done += (size_t)put;
    }
}

/* Fill memory with bytes that differ from place to place, and from seed to seed. */
static inline void work_fill(unsigned char *at, size_t size, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1;

    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        at[i] = (unsigned char)(state >> 24);
    }
}

/* Allocate memory that begins with a page, as the buffers of cp and of stdio do: the kernel copies
 * to and from the user by pages, so that the alignment decides what sizes memcpy sees. */
static inline unsigned char *work_buffer(size_t size)
{
    unsigned char *at = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

    if (!at)
        work_fail("aligned_alloc");
    return at;
}

/* Make a file in memory (memfd) whose pages are allocated: fallocate clears them now, so that the
 * first touch of the machine's memory is not counted as copying. */
static inline int work_file(const char *name, size_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    if (fd < 0)
        work_fail("memfd_create");
    if (fallocate(fd, 0, 0, (off_t)size))
        work_fail("fallocate");
    return fd;
}

/* Wait for a child and return its exit status; a child that was killed ends the program. */
static inline int work_wait(pid_t child)
{
    int status;

    if (waitpid(child, &status, 0) != child)
        work_fail("waitpid");
    if (!WIFEXITED(status))
        work_wrong("a child was killed");
    return WEXITSTATUS(status);
}

#endif
