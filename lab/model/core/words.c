/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_line(FILE *file, struct words *words)
{
    size_t length = 0;
    int byte;

    while ((byte = getc(file)) != EOF && byte != '\n') {
        if (length == sizeof(words->text) - 1 || !byte)
            return -EINVAL;
        words->text[length++] = (char)byte;
    }
    words->text[length] = 0;
    return byte != EOF || length > 0;
}

int words_next(FILE *file, struct words *words)
{
    for (;;) {
        int read;
        char *rest = NULL;

        words->line++;
        read = read_line(file, words);
        if (read <= 0)
            return read;
        words->text[strcspn(words->text, "#")] = 0;
        words->count = 0;
        for (char *word = strtok_r(words->text, " \t\r", &rest); word;
             word = strtok_r(NULL, " \t\r", &rest)) {
            if (words->count == WORDS_MOST)
                return -EINVAL;
            words->word[words->count++] = word;
        }
        if (words->count)
            return 1;
    }
}

bool words_number(const char *word, uint64_t low, uint64_t high, uint64_t *number)
{
    char *end;

    /* strtoull() would accept a sign. */
    if (!isdigit((unsigned char)word[0]))
        return false;
    errno = 0;
    *number = strtoull(word, &end, 0);
    return !errno && !*end && *number >= low && *number <= high;
}
