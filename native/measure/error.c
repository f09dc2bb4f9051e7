/* SPDX-License-Identifier: Apache-2.0 */
/* The three-part error of okosu-measure and okosu-warm. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

int okosu_error_print(int status, const char *why, const char *fix, const char *what, ...)
{
    char first[1024], whole[3072];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(first, sizeof(first), what, arguments);
    va_end(arguments);
    int length =
        snprintf(whole, sizeof(whole), "okosu: %s\n  why: %s\n  fix: %s\n", first, why, fix);
    if (length > (int)sizeof(whole) - 1)
        length = sizeof(whole) - 1;
    /* One write, so that the parts stay together when several measurers share a terminal. */
    if (length > 0 && write(STDERR_FILENO, whole, (size_t)length) < 0)
        return status;
    return status;
}
