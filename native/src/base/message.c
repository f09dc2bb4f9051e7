/* SPDX-License-Identifier: Apache-2.0 */
/* Message: each message is one write, so that ranks of a parallel job do not mix their lines. */
#include "base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Longer names are never typed by hand, so they need no suggestion. */
#define NAME_LIMIT 64

void okosu_message(const char *what, const char *why, const char *fix)
{
    char text[8192];
    int length =
        snprintf(text, sizeof(text), "okosu: %s\n%s%s%s%s%s%s", what, why && *why ? "  why: " : "",
                 why && *why ? why : "", why && *why ? "\n" : "", fix && *fix ? "  fix: " : "",
                 fix && *fix ? fix : "", fix && *fix ? "\n" : "");

    if (length < 0)
        return;
    if ((size_t)length >= sizeof(text)) {
        length = sizeof(text) - 1;
        text[length - 1] = '\n';
    }
    /* If stderr is closed, there is nowhere left to report that. */
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        return;
}

int okosu_complain(int result, const char *why, const char *fix, const char *what, ...)
{
    char text[4096];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(text, sizeof(text), what, arguments);
    va_end(arguments);
    okosu_message(text, why, fix);
    return result;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of insertions, deletions, substitutions and swaps of neighbours (the most frequent
 * typing error); each costs one. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NAME_LIMIT + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t la = strlen(a), lb = strlen(b);

    for (size_t j = 0; j <= lb; j++)
        above[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *spare = before;

        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            row[j] =
                smaller(above[j - 1] + (a[i - 1] != b[j - 1]), smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
        row = spare;
    }
    return above[lb];
}

const char *okosu_message_nearest(const char *given, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t best_distance = (size_t)-1, length = strlen(given);

    if (length > NAME_LIMIT)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t edits;

        if (strlen(names[i]) > NAME_LIMIT)
            continue;
        edits = distance(given, names[i]);
        /* A name of which only the beginning was typed is close, however much of it is missing. */
        if (length >= 3 && strncmp(given, names[i], length) == 0)
            edits = smaller(edits, 1);
        if (edits < best_distance) {
            best_distance = edits;
            best = names[i];
        }
    }
    return best_distance <= smaller(3, (length + 1) / 2) ? best : NULL;
}
