/* SPDX-License-Identifier: Apache-2.0 */
/* What POSIX says of threads, checked: the same lines on Linux and on the machine, with either back
 * end. A number as argument runs that group of checks only. Exit status 0 if all hold. */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int checks, failures;

void check(bool holds, const char *what)
{
    checks++;
    if (!holds)
        failures++;
    printf("%s %d %s\n", holds ? "ok" : "NOT OK", checks, what);
}

struct timespec soon(long microseconds)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 1000 * microseconds;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

bool has_passed(const struct timespec *time)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > time->tv_sec ||
           (now.tv_sec == time->tv_sec && now.tv_nsec >= time->tv_nsec);
}

int main(int argc, char **argv)
{
    unsigned only = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;

    for (unsigned group = 1; group <= groups_count; group++)
        if (only == 0 || only == group)
            groups[group - 1]();
    printf("%d checks, %d failed\n", checks, failures);
    return failures != 0;
}
