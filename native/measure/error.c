/* SPDX-License-Identifier: Apache-2.0 */
/* The three-part error of okosu-measure and okosu-warm. */
#include "error.h"

#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>

int okosu_error_print(int status, const char *why, const char *fix, const char *what, ...)
{
    char first[1024];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(first, sizeof(first), what, arguments);
    va_end(arguments);
    okosu_message(first, why, fix);
    return status;
}
