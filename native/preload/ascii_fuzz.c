/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds the filters of regular expressions (ascii_filter.h) with random patterns under the
 * sanitizers: what libc finds in a text, no filter may exclude. usage: ascii-fuzz [COUNT [SEED]];
 * prints what it did, aborts on the first violated property. */
#include "ascii_filter.h"

#include "base/fuzz.h"

#include <string.h>

#define PATTERN_MOST 48
#define BRACKETS 16

static const reg_syntax_t syntaxes[] = {
    RE_SYNTAX_EMACS,          RE_SYNTAX_AWK,
    RE_SYNTAX_GNU_AWK,        RE_SYNTAX_POSIX_AWK,
    RE_SYNTAX_GREP,           RE_SYNTAX_EGREP,
    RE_SYNTAX_POSIX_EGREP,    RE_SYNTAX_ED,
    RE_SYNTAX_POSIX_BASIC,    RE_SYNTAX_POSIX_MINIMAL_BASIC,
    RE_SYNTAX_POSIX_EXTENDED, RE_SYNTAX_POSIX_MINIMAL_EXTENDED,
};
/* What means something in some syntax stands there more than once. */
static const char alphabet[] = "aabbAB1,0{}{}()()[][]^$..**++??||\\\\\\\\:-=wWsSbB<>`'\n ";

/* In a block of its exact size, so that the sanitizers see what is read behind it. */
static char *block(const char *text, size_t size)
{
    char *copy = malloc(size ? size : 1);

    require(copy != NULL, "memory");
    memcpy(copy, text, size);
    return copy;
}

static size_t random_text(char *text, size_t most, bool any)
{
    size_t size = next_random(most + 1);

    for (size_t i = 0; i < size; i++)
        text[i] = any && next_random(16) == 0 ? (char)next_random(any ? 256 : 128)
                                              : alphabet[next_random(sizeof(alphabet) - 1)];
    return size;
}

/* What libc takes for one character of a bracket expression. */
static bool takes(const char *text, size_t size, struct okosu_ascii_set *set)
{
    struct re_pattern_buffer compiled = {0};

    *set = (struct okosu_ascii_set){0};
    if (re_compile_pattern(text, size, &compiled))
        return false;
    for (unsigned c = 0; c < OKOSU_ASCII; c++) {
        char one = (char)c;

        if (re_match(&compiled, &one, 1, 0, NULL) == 1)
            set->bits[c / 64] |= (uint64_t)1 << c % 64;
    }
    regfree(&compiled);
    return true;
}

static bool read_brackets(const char *text, size_t size, reg_syntax_t syntax,
                          struct okosu_ascii_set *sets, unsigned *count)
{
    *count = 0;
    for (size_t i = 0, step; i < size; i += step) {
        step = 1 + (text[i] == '\\');
        if (text[i] != '[')
            continue;
        step = okosu_bracket_size(text + i, size - i, syntax);
        require(step <= size - i, "a bracket expression is no longer than the pattern");
        if (!step || *count == BRACKETS || !takes(text + i, step, &sets[*count]))
            return false;
        ++*count;
    }
    return true;
}

static unsigned check(struct re_pattern_buffer *compiled, const struct okosu_filter *filter)
{
    unsigned excluded = 0;

    for (unsigned i = 0; i < 8; i++) {
        char text[24];
        size_t size = random_text(text, sizeof(text), false);
        char *exact = block(text, size);
        bool excludes = okosu_filter_excludes(filter, exact, size);

        compiled->newline_anchor = next_random(2);
        if (excludes)
            require(re_search(compiled, exact, (regoff_t)size, 0, (regoff_t)size, NULL) < 0,
                    "what a filter excludes has no match");
        excluded += excludes;
        free(exact);
    }
    return excluded;
}

int main(int argc, char **argv)
{
    size_t count = fuzz_begin("ascii-fuzz", argc, argv, 60000), made = 0, excluded = 0;

    for (size_t i = 0; i < count; i++) {
        struct okosu_ascii_set sets[BRACKETS];
        char text[PATTERN_MOST];
        size_t size = random_text(text, sizeof(text) >> next_random(4), next_random(8) == 0);
        char *exact = block(text, size);
        reg_syntax_t syntax = syntaxes[next_random(sizeof(syntaxes) / sizeof(syntaxes[0]))] |
                              (next_random(3) ? 0 : RE_ICASE);
        struct okosu_filter_pattern pattern = {exact, size, syntax, sets, 0};
        struct re_pattern_buffer compiled = {0};
        struct okosu_filter *filter = NULL;
        bool known;

        re_set_syntax(syntax);
        known = read_brackets(exact, size, syntax, sets, &pattern.bracket_count);
        if (!re_compile_pattern(exact, size, &compiled) && known)
            filter = okosu_filter_make(&pattern);
        else
            /* Patterns that libc refuses never get here; they must do no harm if they do. */
            free(okosu_filter_make(&pattern));
        if (filter) {
            made++;
            excluded += check(&compiled, filter);
        }
        free(filter);
        regfree(&compiled);
        free(exact);
    }
    require(made > count / 50 && excluded > made, "there are filters, and they exclude");
    printf("ascii-fuzz: %zu patterns, %zu filters, %zu texts excluded\n", count, made, excluded);
    return 0;
}
