/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* A text of statements: one a line, words by blanks, # begins a comment. */
#ifndef OKOSU_MODEL_WORDS_H
#define OKOSU_MODEL_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { WORDS_MOST = 32, WORDS_LINE = 1024 };

struct words {
    unsigned line; /* the statement's, from 1 */
    int count;
    char *word[WORDS_MOST];
    char text[WORDS_LINE];
};

/* Read the next line that holds a statement: 1, 0 at the end, -EINVAL where a line is too long, has
 * too many words or holds a NUL. `words` starts as zeros. */
int words_next(FILE *file, struct words *words);
/* A whole number from `low` to `high`, in decimal, 0x or octal. */
bool words_number(const char *word, uint64_t low, uint64_t high, uint64_t *number);

#endif
