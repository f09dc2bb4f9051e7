/* SPDX-License-Identifier: Apache-2.0 */
/* Message: the three-part error of every okosu program, and the nearest name to one that was
 * mistyped. */
#pragma once

#include <stddef.h>

/* Exit statuses of a program that runs another one, and whose status is that one's otherwise. */
enum { OKOSU_EXIT_FAILED = 125, OKOSU_EXIT_NOT_EXECUTABLE = 126, OKOSU_EXIT_NOT_FOUND = 127 };

/* "okosu: WHAT" / "  why: WHY" / "  fix: FIX" on stderr in one write; NULL or "" leaves a part
 * out. */
void okosu_message(const char *what, const char *why, const char *fix);
/* The same with WHAT from printf's arguments; returns `result`, for the caller to return. */
int okosu_complain(int result, const char *why, const char *fix, const char *what, ...)
    __attribute__((format(printf, 4, 5)));
/* The one of `names` that takes the fewest edits to reach from `given`; NULL when none is close. */
const char *okosu_message_nearest(const char *given, const char *const *names, size_t count);
