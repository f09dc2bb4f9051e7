/* SPDX-License-Identifier: Apache-2.0 */
/* The lever ascii against libc's own functions, in the locale of the environment: random strings and
 * random patterns, of ASCII for the most part.
 *
 *   ascii-check order SEED COUNT      strcoll and strcoll_l
 *   ascii-check patterns SEED COUNT   re_compile_pattern, re_search, re_match in many syntaxes
 *   ascii-check posix SEED COUNT      regcomp, regexec
 *   ascii-check switch SEED COUNT     strcoll while the locale is C, the environment's, and C again
 *   ascii-check reload SEED COUNT     strcoll_l, regexec while the locales that LOCALES names come and go
 *   ascii-check elsewhere SEED COUNT  searches in another of LOCALES than the pattern was compiled in
 *   ascii-check threads SEED COUNT    posix and order in four threads at the same time
 *
 * Exit status 1 and the case on stderr where the outcomes differ. */
#include "check.h"

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static struct {
    int (*strcoll)(const char *, const char *);
    int (*strcoll_l)(const char *, const char *, locale_t);
    const char *(*re_compile_pattern)(const char *, size_t, struct re_pattern_buffer *);
    regoff_t (*re_search)(struct re_pattern_buffer *, const char *, regoff_t, regoff_t, regoff_t,
                          struct re_registers *);
    regoff_t (*re_match)(struct re_pattern_buffer *, const char *, regoff_t, regoff_t,
                         struct re_registers *);
    int (*regcomp)(regex_t *, const char *, int);
    int (*regexec)(const regex_t *, const char *, size_t, regmatch_t *, int);
    void (*regfree)(regex_t *);
} libc;

static __thread uint64_t state;

static unsigned below(unsigned limit)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(state >> 33) % limit;
}

static bool one_in(unsigned n)
{
    return below(n) == 0;
}

#define PICK(list) ((list)[below(sizeof(list) / sizeof((list)[0]))])

struct text {
    char at[256];
    size_t size;
};

static void put(struct text *t, const char *what, size_t size)
{
    if (t->size + size < sizeof(t->at)) {
        memcpy(t->at + t->size, what, size);
        t->size += size;
    }
    t->at[t->size] = '\0';
}

static void puts_(struct text *t, const char *what)
{
    put(t, what, strlen(what));
}

static void put_char(struct text *t, char c)
{
    put(t, &c, 1);
}

/* What languages sort or fold in ways of their own. */
static const char *const foreign[] = {"\xc3\xa4",     "\xc3\x9f", "\xcc\x81",  "\xe2\x84\xaa",
                                      "\xc5\xbf",     "\xc4\xb1", "l\xc2\xb7", "\xc2\xb7",
                                      "\xe8\xb5\xb7", "\x80",     "\xc3"};
static const char *const words[] = {"ch", "Ch", "cs", "dzs", "ll", "aa", "ij", "i", "I", "K", "s"};

static void put_some(struct text *t, const char *alphabet)
{
    if (alphabet && !one_in(12))
        put_char(t, alphabet[below((unsigned)strlen(alphabet))]);
    else if (one_in(8))
        puts_(t, PICK(words));
    else
        put_char(t, (char)(1 + below(126)));
}

static void random_string(struct text *t, const char *alphabet, bool plain)
{
    unsigned length = below(12);

    t->size = 0;
    t->at[0] = '\0';
    while (length--)
        put_some(t, alphabet);
    while (!plain && one_in(5))
        puts_(t, PICK(foreign));
    while (one_in(2))
        put_some(t, alphabet);
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

static void random_pair(struct text *a, struct text *b)
{
    static const char *const alphabets[] = {NULL,     "abAB",   "ab- ", "a1B2 _",
                                            "chCHlL", "zyxist", "_-.,", "lLm"};
    const char *alphabet = PICK(alphabets);

    random_string(a, alphabet, false);
    if (!one_in(3)) {
        random_string(b, alphabet, false);
        return;
    }
    *b = *a;
    if (b->size)
        b->at[below((unsigned)b->size)] ^= one_in(2) ? 0x20 : (char)(1 + below(30));
    b->size = strlen(b->at);
}

static void check_order(const struct text *a, const struct text *b, int got, int expected)
{
    if (sign(got) == sign(expected))
        return;
    fprintf(stderr, "\"%s\" and \"%s\": %d, where libc has %d\n", a->at, b->at, got, expected);
    exit(1);
}

/* In the process's locale. */
static void compare_here(void)
{
    struct text a, b;

    random_pair(&a, &b);
    check_order(&a, &b, strcoll(a.at, b.at), libc.strcoll(a.at, b.at));
}

static void compare_in(locale_t where)
{
    struct text a, b;

    random_pair(&a, &b);
    check_order(&a, &b, strcoll_l(a.at, b.at, where), libc.strcoll_l(a.at, b.at, where));
}

static void order(unsigned count)
{
    locale_t where = newlocale(LC_ALL_MASK, "", NULL);

    CHECK(where);
    for (unsigned i = 0; i < count; i++) {
        compare_here();
        compare_in(where);
    }
    freelocale(where);
}

static void switching(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        CHECK(setlocale(i % 2 ? LC_ALL : LC_COLLATE, i % 3 ? "" : "C"));
        for (unsigned k = 0; k < 600; k++)
            compare_here();
    }
}

static const reg_syntax_t syntaxes[] = {
    RE_SYNTAX_POSIX_BASIC,
    RE_SYNTAX_POSIX_EXTENDED,
    RE_SYNTAX_EGREP,
    RE_SYNTAX_POSIX_EGREP,
    RE_SYNTAX_GREP,
    RE_SYNTAX_AWK,
    RE_SYNTAX_GNU_AWK,
    RE_SYNTAX_POSIX_AWK,
    RE_SYNTAX_EMACS,
    RE_SYNTAX_SED,
    RE_SYNTAX_ED,
    RE_SYNTAX_POSIX_MINIMAL_BASIC,
    RE_SYNTAX_POSIX_MINIMAL_EXTENDED,
};

static void put_bracket(struct text *t)
{
    static const char *const parts[] = {
        "a",          "b-c",       "a-z",       "A-Z",       "0-9",       "[:alpha:]", "[:digit:]",
        "[:space:]",  "[:upper:]", "[:lower:]", "[:alnum:]", "[:punct:]", "[:cntrl:]", "[.a.]",
        "[=a=]",      "[.ch.]",    "x",         "\\",        ".",         "*",         "Z-a",
        "\xc3\xa4",   "-",         "i",         "I",         "[",         "(",         "{",
        "[:xdigit:]", "\\]",       "+-/",       "k",         "\n",        "s-z",       "a-t",
    };

    put_char(t, '[');
    if (one_in(4))
        put_char(t, '^');
    if (one_in(12))
        put_char(t, ']');
    do
        puts_(t, one_in(3) ? PICK(parts) : parts[below(13)]);
    while (one_in(2));
    put_char(t, ']');
}

static void random_pattern(struct text *t, unsigned depth)
{
    static const char *const atoms[] = {
        "a",   "b",   "c",   "A",   ".",   "x1",  " ",    "ab",  "i",   "k",   "\\w",
        "\\W", "\\s", "\\S", "\\b", "\\B", "\\<", "\\>",  "\\`", "\\'", "\\.", "\\1",
        "\\2", "^",   "$",   "_",   "\\n", "\\[", "\\\\", "]",   "-",   "/",   "\n"};
    static const char *const repeats[] = {"*",     "+",    "?",       "{2}",       "{1,2}",
                                          "{0,1}", "{2,}", "\\{2\\}", "\\{1,3\\}", "\\+",
                                          "\\?",   "{,2}", "{0}",     "\\{0,\\}",  "**"};

    do {
        if (depth && one_in(4)) {
            bool escaped = one_in(2);

            puts_(t, escaped ? "\\(" : "(");
            random_pattern(t, depth - 1);
            puts_(t, escaped ? "\\)" : ")");
            if (one_in(4))
                puts_(t, one_in(2) ? "\\1" : "b\\1c");
        } else if (one_in(3)) {
            put_bracket(t);
        } else {
            puts_(t, one_in(2) ? PICK(atoms) : atoms[below(8)]);
        }
        if (one_in(3))
            puts_(t, PICK(repeats));
        if (one_in(8))
            puts_(t, one_in(2) ? "|" : "\\|");
    } while (!one_in(3));
}

static void make_pattern(struct text *t)
{
    t->size = 0;
    t->at[0] = '\0';
    random_pattern(t, 2);
    if (one_in(30))
        puts_(t, PICK(foreign));
}

static void random_subject(struct text *t)
{
    static const char *const alphabets[] = {"abc",       "abcABC xx11", "ab\n_",
                                            "aAiIkK.[]", "astyz",       NULL};

    random_string(t, PICK(alphabets), !one_in(4));
    if (one_in(6))
        put(t, "\0b", 2);
}

static void show(const char *what, const struct text *pattern, const struct text *subject)
{
    fprintf(stderr, "%s differs: pattern \"%s\", text (%zu bytes) \"%s\"\n", what, pattern->at,
            subject->size, subject->at);
    exit(1);
}

static bool same_registers(const struct re_registers *a, const struct re_registers *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a->start[i] != b->start[i] || a->end[i] != b->end[i])
            return false;
    }
    return true;
}

/* Registers of the program's own, which the search does not enlarge. */
static void fix_registers(struct re_pattern_buffer *compiled, struct re_registers *r, unsigned n)
{
    re_set_registers(compiled, r, n, calloc(n, sizeof(regoff_t)), calloc(n, sizeof(regoff_t)));
    compiled->regs_allocated = REGS_FIXED;
}

static void free_registers(struct re_registers *r)
{
    free(r->start);
    free(r->end);
}

static void search_once(struct re_pattern_buffer *own, struct re_pattern_buffer *libcs,
                        const struct text *pattern, struct re_registers *a, struct re_registers *b)
{
    struct text subject;
    regoff_t start, range, expected, got;

    random_subject(&subject);
    start = (regoff_t)below((unsigned)subject.size + 2);
    range = (regoff_t)below((unsigned)subject.size + 2) * (one_in(4) ? -1 : 1);
    if (one_in(2)) {
        start = 0;
        range = (regoff_t)subject.size;
    }
    own->not_bol = libcs->not_bol = one_in(6);
    own->not_eol = libcs->not_eol = one_in(6);
    own->newline_anchor = libcs->newline_anchor = one_in(2);
    if (one_in(4)) {
        expected = libc.re_match(libcs, subject.at, (regoff_t)subject.size, start, b);
        got = re_match(own, subject.at, (regoff_t)subject.size, start, a);
    } else if (one_in(4)) {
        expected = libc.re_search(libcs, subject.at, (regoff_t)subject.size, start, range, NULL);
        got = re_search(own, subject.at, (regoff_t)subject.size, start, range, NULL);
    } else {
        expected = libc.re_search(libcs, subject.at, (regoff_t)subject.size, start, range, b);
        got = re_search(own, subject.at, (regoff_t)subject.size, start, range, a);
    }
    if (got != expected || own->regs_allocated != libcs->regs_allocated ||
        a->num_regs != b->num_regs || !same_registers(a, b, a->num_regs))
        show("a search", pattern, &subject);
}

/* `elsewhere`: a locale that half of the searches run in; NULL: they run in the pattern's. */
static void patterns(unsigned count, locale_t elsewhere)
{
    for (unsigned i = 0; i < count; i++) {
        struct re_pattern_buffer own = {0}, libcs = {0};
        struct re_registers a = {0}, b = {0};
        const char *error, *expected;
        struct text pattern;

        make_pattern(&pattern);
        if (one_in(2)) {
            own.fastmap = malloc(256);
            libcs.fastmap = malloc(256);
        }
        re_set_syntax(PICK(syntaxes) | (one_in(3) ? RE_ICASE : 0) | (one_in(6) ? RE_NO_SUB : 0) |
                      (one_in(6) ? RE_HAT_LISTS_NOT_NEWLINE : 0));
        expected = libc.re_compile_pattern(pattern.at, pattern.size, &libcs);
        error = re_compile_pattern(pattern.at, pattern.size, &own);
        CHECK(!error == !expected);
        if (!error && one_in(4)) {
            unsigned n = 1 + below(4);

            fix_registers(&own, &a, n);
            fix_registers(&libcs, &b, n);
        }
        for (unsigned k = 0; !error && k < 24; k++) {
            locale_t before = uselocale(elsewhere && one_in(2) ? elsewhere : NULL);

            search_once(&own, &libcs, &pattern, &a, &b);
            uselocale(before);
        }
        free_registers(&a);
        free_registers(&b);
        regfree(&own);
        libc.regfree(&libcs);
    }
}

static void execute_once(const regex_t *own, const regex_t *libcs, const struct text *pattern)
{
    regmatch_t a[6], b[6];
    struct text subject;
    int flags = (one_in(6) ? REG_NOTBOL : 0) | (one_in(6) ? REG_NOTEOL : 0), expected, got;
    size_t room = below(7);

    random_subject(&subject);
    if (one_in(4)) {
        flags |= REG_STARTEND;
        a[0].rm_so = (regoff_t)below((unsigned)subject.size + 1);
        a[0].rm_eo =
            a[0].rm_so + (regoff_t)below((unsigned)subject.size + 1 - (unsigned)a[0].rm_so);
        b[0] = a[0];
    }
    expected = libc.regexec(libcs, subject.at, room, b, flags);
    got = regexec(own, subject.at, room, a, flags);
    if (got != expected)
        show("regexec", pattern, &subject);
    for (size_t i = 0; !got && !own->no_sub && i < room; i++) {
        if (a[i].rm_so != b[i].rm_so || a[i].rm_eo != b[i].rm_eo)
            show("a group", pattern, &subject);
    }
}

/* As `patterns`. */
static void posix(unsigned count, locale_t elsewhere)
{
    for (unsigned i = 0; i < count; i++) {
        regex_t own, libcs;
        struct text pattern;
        int flags = (one_in(2) ? REG_EXTENDED : 0) | (one_in(3) ? REG_ICASE : 0) |
                    (one_in(4) ? REG_NEWLINE : 0) | (one_in(4) ? REG_NOSUB : 0),
            error;

        make_pattern(&pattern);
        error = libc.regcomp(&libcs, pattern.at, flags);
        CHECK(regcomp(&own, pattern.at, flags) == error);
        if (error)
            continue;
        for (unsigned k = 0; k < 48; k++) {
            locale_t before = uselocale(elsewhere && one_in(2) ? elsewhere : NULL);

            execute_once(&own, &libcs, &pattern);
            uselocale(before);
        }
        regfree(&own);
        libc.regfree(&libcs);
    }
}

/* Searches with a pattern that was compiled in a locale whose tables may be another's now. */
static void search_later(regex_t *own, regex_t *libcs, const struct text *pattern)
{
    for (unsigned k = 0; k < 48; k++)
        execute_once(own, libcs, pattern);
    regfree(own);
    libc.regfree(libcs);
}

/* A locale's tables may be mapped where another's were. */
static void reloading(unsigned count)
{
    struct text ranges = {.size = 0};
    regex_t own, libcs;
    bool compiled = false;

    puts_(&ranges, "[s-z][a-t]*[t-y]");
    while (count--) {
        char *names = strdup(getenv("LOCALES")), *rest = names;

        for (char *name = strsep(&rest, " "); name; name = strsep(&rest, " ")) {
            locale_t where = newlocale(LC_ALL_MASK, name, NULL), before;

            CHECK(where);
            before = uselocale(where);
            for (unsigned k = 0; k < 1200; k++)
                compare_in(where);
            if (compiled)
                search_later(&own, &libcs, &ranges);
            posix(60, NULL);
            CHECK(!regcomp(&own, ranges.at, 0) && !libc.regcomp(&libcs, ranges.at, 0));
            compiled = true;
            uselocale(before);
            freelocale(where);
        }
        free(names);
    }
}

static void elsewhere(unsigned count)
{
    char *names = strdup(getenv("LOCALES"));
    locale_t loaded[16];
    unsigned known = 0;

    for (char *name = strsep(&names, " "); name && known < 16; name = strsep(&names, " ")) {
        loaded[known] = newlocale(LC_ALL_MASK, name, NULL);
        CHECK(loaded[known++]);
    }
    while (count--) {
        uselocale(loaded[below(known)]);
        patterns(8, loaded[below(known)]);
        posix(20, loaded[below(known)]);
    }
}

static void *both(void *arg)
{
    unsigned count = *(unsigned *)arg;

    state = count;
    posix(count, NULL);
    for (unsigned i = 0; i < 100 * count; i++)
        compare_here();
    return NULL;
}

static void threads(unsigned count)
{
    pthread_t ids[4];
    unsigned counts[4];

    for (unsigned i = 0; i < 4; i++) {
        counts[i] = count + i;
        CHECK(!pthread_create(&ids[i], NULL, both, &counts[i]));
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK(!pthread_join(ids[i], NULL));
}

int main(int argc, char **argv)
{
    void *library = dlopen("libc.so.6", RTLD_NOW);
    unsigned count;

    CHECK(argc == 4 && library);
    CHECK(setlocale(LC_ALL, ""));
    state = strtoull(argv[2], NULL, 10) * 2 + 1;
    count = (unsigned)strtoul(argv[3], NULL, 10);
#define RESOLVE(name) *(void **)&libc.name = dlsym(library, #name)
    RESOLVE(strcoll);
    RESOLVE(strcoll_l);
    RESOLVE(re_compile_pattern);
    RESOLVE(re_search);
    RESOLVE(re_match);
    RESOLVE(regcomp);
    RESOLVE(regexec);
    RESOLVE(regfree);
    if (!strcmp(argv[1], "order"))
        order(count);
    else if (!strcmp(argv[1], "patterns"))
        patterns(count, NULL);
    else if (!strcmp(argv[1], "posix"))
        posix(count, NULL);
    else if (!strcmp(argv[1], "switch"))
        switching(count);
    else if (!strcmp(argv[1], "threads"))
        threads(count);
    else if (!strcmp(argv[1], "reload"))
        reloading(count);
    else if (!strcmp(argv[1], "elsewhere"))
        elsewhere(count);
    else
        CHECK(!"such a mode");
    return 0;
}
