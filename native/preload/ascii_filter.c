/* SPDX-License-Identifier: Apache-2.0 */
/* Filters (see ascii_filter.h).
 *
 * The pattern is read as libc reads it (regex(7), and the syntax bits of regex.h), but for what a
 * superset may leave out: a reference to a group is any string, an anchor is nothing or its own
 * character, {2,5} is one or more. What libc reads by rules that are rarely met (a repetition with
 * nothing before it, an interval that is none) has no filter.
 *
 * Each character of the pattern is a position (Glushkov 1961): which can be the first, which the last,
 * and which can follow which. A state of the automaton is the set of positions that may just have
 * been passed. */
#include "ascii_filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define POSITIONS 64
#define STATES 255
#define CLASSES 64
#define DEPTH 32

/* Absorbs what comes after a match. */
enum { MATCHED, BEGINS };

struct okosu_filter {
    uint8_t class_of[OKOSU_ASCII];
    uint8_t next[STATES][CLASSES];
};

/* A part of the pattern: whether it matches the empty string, and its first and last positions. */
struct part {
    bool empty;
    uint64_t first, last;
};

struct reader {
    const struct okosu_filter_pattern *pattern;
    size_t at;
    unsigned brackets, depth;
    bool unknown; /* what was read has no filter */

    unsigned positions;
    uint64_t follow[POSITIONS];
    uint64_t takes[OKOSU_ASCII]; /* by character: the positions that take it */
};

static const struct part NOTHING = {.empty = true};

static bool has(const struct reader *r, reg_syntax_t bit)
{
    return r->pattern->syntax & bit;
}

static struct part position(struct reader *r)
{
    uint64_t own = (uint64_t)1 << r->positions % POSITIONS;

    r->unknown |= r->positions >= POSITIONS;
    r->positions++;
    return (struct part){.first = own, .last = own};
}

static struct part of_set(struct reader *r, const struct okosu_ascii_set *set)
{
    struct part p = position(r);

    for (unsigned c = 0; c < OKOSU_ASCII; c++) {
        if (set->bits[c / 64] >> c % 64 & 1)
            r->takes[c] |= p.first;
    }
    return p;
}

static void add(struct okosu_ascii_set *set, unsigned c)
{
    set->bits[c / 64] |= (uint64_t)1 << c % 64;
}

static struct part of_character(struct reader *r, char c)
{
    struct okosu_ascii_set set = {0};
    unsigned char own = (unsigned char)c;

    if (own >= OKOSU_ASCII) {
        r->unknown = true;
        return NOTHING;
    }
    add(&set, own);
    if (has(r, RE_ICASE) && ((own | 0x20) >= 'a' && (own | 0x20) <= 'z'))
        add(&set, own ^ 0x20U);
    return of_set(r, &set);
}

/* Characters of words (isalnum and "_") or spaces, or all others. */
static struct part of_class(struct reader *r, char which)
{
    struct okosu_ascii_set set = {0};

    for (unsigned c = 0; c < OKOSU_ASCII; c++) {
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z', digit = c >= '0' && c <= '9';
        bool word = letter || digit || c == '_', space = c == ' ' || (c >= '\t' && c <= '\r');
        bool in = which == 'w' || which == 'W' ? word : space;

        if (in == (which == 'w' || which == 's'))
            add(&set, c);
    }
    return of_set(r, &set);
}

static struct part of_any(struct reader *r)
{
    return of_set(r, &(struct okosu_ascii_set){{~(uint64_t)0, ~(uint64_t)0}});
}

static void may_follow(struct reader *r, uint64_t before, uint64_t after)
{
    for (unsigned i = 0; i < POSITIONS; i++) {
        if (before >> i & 1)
            r->follow[i] |= after;
    }
}

static struct part joined(struct reader *r, struct part a, struct part b)
{
    may_follow(r, a.last, b.first);
    return (struct part){
        .empty = a.empty && b.empty,
        .first = a.first | (a.empty ? b.first : 0),
        .last = b.last | (b.empty ? a.last : 0),
    };
}

static struct part either(struct part a, struct part b)
{
    return (struct part){a.empty || b.empty, a.first | b.first, a.last | b.last};
}

static struct part repeated(struct reader *r, struct part p, bool may_be_none)
{
    may_follow(r, p.last, p.first);
    p.empty |= may_be_none;
    return p;
}

/* What comes next: a character, or one that a backslash gives its meaning or takes it. */
struct token {
    char c; /* 0: the pattern's end */
    bool escaped;
    size_t size;
};

static struct token peek(const struct reader *r)
{
    const char *text = r->pattern->text + r->at;
    size_t left = r->pattern->size - r->at;

    if (!left)
        return (struct token){0};
    if (*text == '\\' && left > 1)
        return (struct token){text[1], true, 2};
    return (struct token){*text, false, 1};
}

static bool is_group(const struct reader *r, struct token t, char c)
{
    return t.c == c && t.escaped == !has(r, RE_NO_BK_PARENS);
}

static bool is_alternative(const struct reader *r, struct token t)
{
    if (!t.escaped && t.c == '\n' && t.size)
        return has(r, RE_NEWLINE_ALT);
    return t.c == '|' && !has(r, RE_LIMITED_OPS) && t.escaped == !has(r, RE_NO_BK_VBAR);
}

static bool is_interval(const struct reader *r, struct token t)
{
    return t.c == '{' && has(r, RE_INTERVALS) && t.escaped == !has(r, RE_NO_BK_BRACES);
}

static bool is_repetition(const struct reader *r, struct token t)
{
    if (t.c == '+' || t.c == '?')
        return !has(r, RE_LIMITED_OPS) && t.escaped == has(r, RE_BK_PLUS_QM);
    return (t.c == '*' && !t.escaped) || is_interval(r, t);
}

/* Reads digits; whether there were any that are not all zeros is in `some`. */
static bool read_number(struct reader *r, bool *some)
{
    size_t begin = r->at;

    for (; r->at < r->pattern->size && isdigit((unsigned char)r->pattern->text[r->at]); r->at++)
        *some |= r->pattern->text[r->at] != '0';
    return r->at > begin;
}

/* Behind the opening brace. */
static struct part interval(struct reader *r, struct part p)
{
    bool least = false, most = false, has_least = read_number(r, &least), has_most;
    struct token t = peek(r);

    has_most = has_least;
    if (t.c == ',' && !t.escaped) {
        r->at++;
        has_most = read_number(r, &most);
        t = peek(r);
    }
    r->unknown |= (!has_least && !has_most) || t.c != '}' || t.escaped == has(r, RE_NO_BK_BRACES);
    r->at += t.size;
    return repeated(r, p, !least);
}

static struct part alternatives(struct reader *r);

/* What a backslash gives a meaning; false: it is the character itself. */
static bool special(struct reader *r, char c, struct part *p)
{
    if (c >= '1' && c <= '9' && !has(r, RE_NO_BK_REFS))
        *p = repeated(r, of_any(r), true);
    else if (has(r, RE_NO_GNU_OPS) || !strchr("wWsS<>bB`'", c))
        return false;
    else if (strchr("wWsS", c))
        *p = of_class(r, c);
    else
        *p = NOTHING;
    return true;
}

static struct part bracket(struct reader *r)
{
    size_t size =
        okosu_bracket_size(r->pattern->text + r->at, r->pattern->size - r->at, r->pattern->syntax);

    if (!size || r->brackets >= r->pattern->bracket_count) {
        r->unknown = true;
        r->at = r->pattern->size;
        return NOTHING;
    }
    r->at += size;
    return of_set(r, &r->pattern->brackets[r->brackets++]);
}

/* What a repetition can follow. `anchor`: what it cannot follow. */
static struct part atom(struct reader *r, struct token t, bool *anchor)
{
    struct part p;

    *anchor = false;
    if (!t.escaped && t.c == '[')
        return bracket(r);
    r->at += t.size;
    if (is_group(r, t, '(')) {
        r->unknown |= ++r->depth > DEPTH;
        p = r->unknown ? NOTHING : alternatives(r);
        r->depth--;
        t = peek(r);
        r->unknown |= !is_group(r, t, ')');
        r->at += t.size;
        return p;
    }
    if (t.escaped && special(r, t.c, &p)) {
        *anchor = p.empty && !p.first;
        return p;
    }
    if (!t.escaped && t.c == '.')
        return of_any(r);
    p = of_character(r, t.c);
    *anchor = !t.escaped && (t.c == '^' || t.c == '$');
    return *anchor ? either(p, NOTHING) : p;
}

static struct part branch(struct reader *r)
{
    struct part whole = NOTHING;

    for (;;) {
        struct token t = peek(r);
        bool anchor;
        struct part p;

        if (r->unknown || r->at >= r->pattern->size || is_alternative(r, t) || is_group(r, t, ')'))
            return whole;
        /* A backslash at the end, a NUL, and a repetition of nothing. */
        if (!t.c || (t.c == '\\' && !t.escaped) || is_repetition(r, t)) {
            r->unknown = true;
            return whole;
        }
        p = atom(r, t, &anchor);
        while (is_repetition(r, t = peek(r)) && !r->unknown) {
            r->unknown |= anchor;
            r->at += t.size;
            if (t.c == '{')
                p = interval(r, p);
            else
                p = t.c == '?' ? either(p, NOTHING) : repeated(r, p, t.c == '*');
        }
        whole = joined(r, whole, p);
    }
}

static struct part alternatives(struct reader *r)
{
    struct part whole = branch(r);
    struct token t;

    while (!r->unknown && is_alternative(r, t = peek(r))) {
        r->at += t.size;
        whole = either(whole, branch(r));
    }
    return whole;
}

/* Characters that the same positions take are one class. Returns their number. */
static unsigned classify(const struct reader *r, uint8_t class_of[OKOSU_ASCII],
                         uint64_t takes[CLASSES])
{
    unsigned count = 0;

    for (unsigned c = 0; c < OKOSU_ASCII; c++) {
        unsigned k = 0;

        while (k < count && takes[k] != r->takes[c])
            k++;
        if (k == CLASSES)
            return 0;
        takes[k] = r->takes[c];
        class_of[c] = (uint8_t)k;
        count += k == count;
    }
    return count;
}

/* Fills the automaton; false: it has too many states. */
static bool build(struct okosu_filter *filter, const struct reader *r, struct part whole)
{
    uint64_t sets[STATES] = {0}, takes[CLASSES];
    unsigned states = BEGINS + 1, classes = classify(r, filter->class_of, takes);

    for (unsigned s = BEGINS; classes && s < states; s++) {
        uint64_t may = whole.first;

        for (unsigned i = 0; i < POSITIONS; i++)
            may |= sets[s] >> i & 1 ? r->follow[i] : 0;
        for (unsigned k = 0; k < classes; k++) {
            uint64_t passed = may & takes[k];
            unsigned to = BEGINS;

            if (passed & whole.last) {
                filter->next[s][k] = MATCHED;
                continue;
            }
            while (to < states && sets[to] != passed)
                to++;
            if (to == STATES)
                return false;
            sets[to] = passed;
            states += to == states;
            filter->next[s][k] = (uint8_t)to;
        }
    }
    return classes;
}

struct okosu_filter *okosu_filter_make(const struct okosu_filter_pattern *pattern)
{
    struct reader r = {.pattern = pattern};
    struct part whole = alternatives(&r);
    struct okosu_filter *filter;

    if (r.unknown || r.at != pattern->size || r.brackets != pattern->bracket_count || whole.empty)
        return NULL;
    filter = calloc(1, sizeof(*filter));
    if (filter && build(filter, &r, whole))
        return filter;
    free(filter);
    return NULL;
}

bool okosu_filter_excludes(const struct okosu_filter *filter, const char *text, size_t size)
{
    unsigned state = BEGINS;

    for (size_t i = 0; i < size && state != MATCHED; i++)
        state = filter->next[state][filter->class_of[(unsigned char)text[i] % OKOSU_ASCII]];
    return state != MATCHED;
}

size_t okosu_bracket_size(const char *text, size_t left, reg_syntax_t syntax)
{
    size_t i = 1;

    i += i < left && text[i] == '^';
    i += i < left && text[i] == ']';
    while (i < left && text[i] != ']') {
        if (text[i] == '[' && i + 1 < left && (text[i + 1] == '.' || text[i + 1] == '='))
            return 0;
        if (text[i] == '[' && i + 1 < left && text[i + 1] == ':' && syntax & RE_CHAR_CLASSES) {
            const char *end = memmem(text + i + 2, left - i - 2, ":]", 2);

            if (!end)
                return 0;
            i = (size_t)(end - text) + 2;
        } else {
            i += 1 + (text[i] == '\\' && syntax & RE_BACKSLASH_ESCAPE_IN_LISTS);
        }
    }
    return i < left ? i + 1 : 0;
}
