/* SPDX-License-Identifier: Apache-2.0 */
/* The program's end. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend.h"
#include "console.h"

enum { MOST_AT_EXIT = 32, ABORT_STATUS = 134 };

static struct lock lock;
static void (*functions[MOST_AT_EXIT])(void);
static unsigned functions_n;

IN_LIB int atexit(void (*function)(void))
{
    int failed = -1;

    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
    if (functions_n < MOST_AT_EXIT) {
        functions[functions_n++] = function;
        failed = 0;
    }
    lock_release(&lock);
    return failed;
}

IN_LIB void exit(int status)
{
    while (functions_n > 0)
        functions[--functions_n]();
    _exit(status);
}

IN_LIB void _exit(int status)
{
    console_end((unsigned)status & 0xff);
}

IN_LIB void _Exit(int status)
{
    _exit(status);
}

/* Weak: posix/signals.c has one that raises SIGABRT. */
__attribute__((weak)) IN_LIB void abort(void)
{
    fputs("okosu: abort called\n", stderr);
    _exit(ABORT_STATUS);
}

IN_LIB void okosu_assertion_failed(const char *condition, const char *file, int line,
                                   const char *function)
{
    fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, condition);
    _exit(ABORT_STATUS);
}
