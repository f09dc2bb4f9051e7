/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions of ASCII: each pattern has a twin, compiled in the C locale, that searches
 * text of ASCII byte by byte where libc would turn it into wide characters first.
 *
 * A pattern has a twin if its locale's charset is UTF-8 and has no sequences of ASCII that count as
 * one character, it is ASCII itself, ASCII letters have the classes and the cases of the C locale, and each of its bracket expressions, compiled alone, takes
 * the same ASCII characters in both locales. Then the two differ in nothing that text of ASCII could
 * show. A pattern with a collating element or an equivalence class has none.
 *
 * libc's struct may be copied by the program, but what it points to is one compiled pattern's alone:
 * that is a twin's key. */
#include "ascii.h"
#include "ascii_filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#define SLOTS 1024
#define PROBES 8
/* regexec's patterns: a program that compiles one for each text would only lose by a twin. */
#define WORTH 16
/* Longer text costs more to look at, with each call, than a twin may save. */
#define TEXT_MOST 16384
/* libc looks back for the character that a search begins in, and for the one before that. */
#define BACK 16
#define BRACKET_MOST 64
#define BRACKETS 32
#define COMPARED 64

enum { COLD, MAKING, READY, NONE };

/* A locale: where libc has its tables, and when. */
struct home {
    const void *classes, *order;
    unsigned epoch;
};

struct twin {
    struct re_pattern_buffer compiled;
    struct okosu_filter *filter; /* NULL: none */
    struct okosu_twin_source source;
    struct home home;
    atomic_int state;
    atomic_uint uses;
    size_t size;
    char pattern[];
};

/* Of two words, which are written one after the other: a slot that is being filled or emptied has
 * the key BUSY. */
static struct {
    _Atomic uintptr_t key;
    _Atomic(struct twin *) twin;
} slots[SLOTS];
#define BUSY ((uintptr_t)1)

static size_t slot_of(uintptr_t key, unsigned probe)
{
    return (key * 0x9e3779b97f4a7c15U >> 40 & (SLOTS - 1)) ^ probe;
}

static struct twin *lookup(uintptr_t key)
{
    for (unsigned i = 0; i < PROBES; i++) {
        size_t slot = slot_of(key, i);

        if (atomic_load_explicit(&slots[slot].key, memory_order_acquire) == key)
            return atomic_load_explicit(&slots[slot].twin, memory_order_relaxed);
    }
    return NULL;
}

static bool insert(uintptr_t key, struct twin *twin)
{
    for (unsigned i = 0; i < PROBES; i++) {
        size_t slot = slot_of(key, i);
        uintptr_t none = 0;

        if (!atomic_compare_exchange_strong(&slots[slot].key, &none, BUSY))
            continue;
        atomic_store_explicit(&slots[slot].twin, twin, memory_order_relaxed);
        atomic_store_explicit(&slots[slot].key, key, memory_order_release);
        return true;
    }
    return false;
}

static struct twin *take_out(uintptr_t key)
{
    for (unsigned i = 0; i < PROBES; i++) {
        size_t slot = slot_of(key, i);
        uintptr_t own = key;
        struct twin *twin;

        if (!atomic_compare_exchange_strong(&slots[slot].key, &own, BUSY))
            continue;
        twin = atomic_load_explicit(&slots[slot].twin, memory_order_relaxed);
        atomic_store_explicit(&slots[slot].key, 0, memory_order_release);
        return twin;
    }
    return NULL;
}

static struct home here(void)
{
    return (struct home){.classes = nl_langinfo(_NL_CTYPE_CLASS),
                         .order = nl_langinfo(_NL_COLLATE_TABLEMB),
                         .epoch = atomic_load_explicit(&okosu_ascii_epoch, memory_order_acquire)};
}

/* Whether the calling thread's locale is this one. */
static bool is_home(const struct home *home)
{
    struct home now = here();

    return home->epoch == now.epoch && home->classes == now.classes && home->order == now.order;
}

static bool is_ascii(const char *text, size_t size)
{
    uint64_t all = 0, word;
    size_t i = 0;

    for (; i + sizeof(word) <= size; i += sizeof(word)) {
        memcpy(&word, text + i, sizeof(word));
        all |= word;
    }
    for (; i < size; i++)
        all |= (unsigned char)text[i];
    return !(all & 0x8080808080808080U);
}

static bool compile(const struct okosu_twin_source *source, const char *pattern, size_t size,
                    struct re_pattern_buffer *into)
{
    *into = (struct re_pattern_buffer){0};
    if (source->posix)
        return okosu_ascii_next.regcomp(into, pattern, source->flags) == 0;
    return !okosu_ascii_next.re_compile_pattern(pattern, size, into);
}

/* As `compile`, in the C locale. */
static bool compile_in_c(const struct okosu_twin_source *source, const char *pattern, size_t size,
                         struct re_pattern_buffer *into)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", NULL), before; /* glibc's is static */
    bool done;

    if (!c)
        return false;
    before = uselocale(c);
    done = compile(source, pattern, size, into);
    uselocale(before);
    return done;
}

/* Which ASCII characters a pattern for one character takes. */
static struct okosu_ascii_set taken(struct re_pattern_buffer *compiled)
{
    struct okosu_ascii_set set = {0};

    for (unsigned c = 0; c < OKOSU_ASCII; c++) {
        char text = (char)c;

        if (okosu_ascii_next.re_match(compiled, &text, 1, 0, NULL) == 1)
            set.bits[c / 64] |= (uint64_t)1 << c % 64;
    }
    okosu_ascii_next.regfree(compiled);
    return set;
}

static bool takes_the_same(const struct okosu_twin_source *source, const char *pattern, size_t size,
                           struct okosu_ascii_set *takes)
{
    struct re_pattern_buffer here, there;
    struct okosu_ascii_set in_c;

    if (!compile(source, pattern, size, &here))
        return false;
    *takes = taken(&here);
    if (!compile_in_c(source, pattern, size, &there))
        return false;
    in_c = taken(&there);
    return !memcmp(takes, &in_c, sizeof(in_c));
}

/* Bracket expressions that were compared before, as programs have the same ones in many patterns. */
static struct {
    struct okosu_twin_source source;
    reg_syntax_t syntax;
    struct home home;
    char text[BRACKET_MOST];
    bool same;
    struct okosu_ascii_set takes;
} compared[COMPARED];
static unsigned compared_count;
static atomic_flag making = ATOMIC_FLAG_INIT;

/* `text` is a bracket expression of the pattern, ended by 0. */
static bool bracket_is_same(const struct twin *twin, reg_syntax_t syntax, const char *text,
                            size_t size, struct okosu_ascii_set *takes)
{
    bool same;
    unsigned i = 0;

    while (i < compared_count &&
           (compared[i].source.posix != twin->source.posix ||
            compared[i].source.flags != twin->source.flags || compared[i].syntax != syntax ||
            !is_home(&compared[i].home) || strcmp(compared[i].text, text) != 0))
        i++;
    if (i < compared_count) {
        *takes = compared[i].takes;
        return compared[i].same;
    }
    same = takes_the_same(&twin->source, text, size, takes);
    if (i < COMPARED) {
        compared[i].source = twin->source;
        compared[i].syntax = syntax;
        compared[i].home = twin->home;
        memcpy(compared[i].text, text, size + 1);
        compared[i].same = same;
        compared[i].takes = *takes;
        compared_count++;
    }
    return same;
}

/* glibc duplicates what {2} repeats, and with it the conditions of anchors, in a manner that depends on how
 * it compiled the bracket expressions there: "(.\\<[^[:upper:]]){2}" matches other text in the C locale. */
static bool repeats_anchors(const char *pattern, size_t size, reg_syntax_t syntax)
{
    bool interval = false, anchor = false;

    for (size_t i = 0; i < size; i++) {
        bool escaped = pattern[i] == '\\' && i + 1 < size;
        size_t bracket = pattern[i] == '[' ? okosu_bracket_size(pattern + i, size - i, syntax) : 0;

        if (bracket) {
            i += bracket - 1;
            continue;
        }
        i += escaped;
        interval |= pattern[i] == '{';
        anchor |= pattern[i] && strchr(escaped ? "bB<>`'" : "^$", pattern[i]);
    }
    return interval && anchor;
}

/* Fills what the pattern's bracket expressions take. False: one differs in the C locale, or cannot be
 * compared. */
static bool brackets_are_same(const struct twin *twin, reg_syntax_t syntax,
                              struct okosu_ascii_set takes[BRACKETS], unsigned *count)
{
    char text[BRACKET_MOST];

    *count = 0;
    for (size_t i = 0, size; i < twin->size; i += size) {
        size = 1 + (twin->pattern[i] == '\\');
        if (twin->pattern[i] != '[')
            continue;
        size = okosu_bracket_size(twin->pattern + i, twin->size - i, syntax);
        if (!size || size >= sizeof(text) || *count == BRACKETS)
            return false;
        memcpy(text, twin->pattern + i, size);
        text[size] = '\0';
        if (strlen(text) != size || !bracket_is_same(twin, syntax, text, size, &takes[*count]))
            return false;
        ++*count;
    }
    return true;
}

static bool letters_are_same(void)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
    bool same = c != NULL;

    for (int i = 0; same && i < OKOSU_ASCII; i++) {
        wint_t wide = (wint_t)i;

        same = !isalnum_l(i, c) == !isalnum(i) && !isalnum(i) == !iswalnum(wide) &&
               !isspace_l(i, c) == !isspace(i) && !isspace(i) == !iswspace(wide) &&
               toupper_l(i, c) == toupper(i) && (wint_t)toupper(i) == towupper(wide) &&
               tolower_l(i, c) == tolower(i) && (wint_t)tolower(i) == towlower(wide);
    }
    return same;
}

static bool make_locked(struct twin *twin, const struct re_pattern_buffer *own)
{
    struct okosu_ascii_set takes[BRACKETS];
    struct okosu_filter_pattern pattern = {
        .text = twin->pattern, .size = twin->size, .syntax = own->syntax, .brackets = takes};
    bool made;

    if (!letters_are_same() || !okosu_order_is_of_characters() ||
        !brackets_are_same(twin, own->syntax, takes, &pattern.bracket_count) ||
        !compile_in_c(&twin->source, twin->pattern, twin->size, &twin->compiled))
        return false;
    made = twin->compiled.re_nsub == own->re_nsub && twin->compiled.syntax == own->syntax;
    if (made && own->fastmap && !twin->compiled.fastmap) {
        twin->compiled.fastmap = malloc(256);
        made = twin->compiled.fastmap && !re_compile_fastmap(&twin->compiled);
    }
    if (made)
        twin->filter = okosu_filter_make(&pattern);
    else
        okosu_ascii_next.regfree(&twin->compiled);
    return made;
}

/* Makes the twin in the calling thread, whose locale is the pattern's. */
static bool make(struct twin *twin, const struct re_pattern_buffer *own)
{
    bool made;

    if (atomic_flag_test_and_set(&making))
        return false;
    made = make_locked(twin, own);
    atomic_flag_clear(&making);
    return made;
}

static void free_twin(struct twin *twin)
{
    if (!twin)
        return;
    if (atomic_load(&twin->state) == READY) {
        okosu_ascii_next.regfree(&twin->compiled);
        free(twin->filter);
    }
    free(twin);
}

void okosu_twin_drop(const struct re_pattern_buffer *own)
{
    if (own->buffer)
        free_twin(take_out((uintptr_t)own->buffer));
}

void okosu_twin_make(const struct okosu_twin_source *source, const char *pattern, size_t size,
                     const struct re_pattern_buffer *own)
{
    int saved = errno;
    struct twin *twin = NULL;

    /* A program may have given the memory back by free(). */
    okosu_twin_drop(own);
    if (own->buffer && !own->translate && is_ascii(pattern, size) &&
        !repeats_anchors(pattern, size, own->syntax) && !strcmp(nl_langinfo(CODESET), "UTF-8"))
        twin = calloc(1, sizeof(*twin) + size + 1);
    if (twin) {
        twin->source = *source;
        twin->home = here();
        twin->size = size;
        memcpy(twin->pattern, pattern, size);
        /* The syntax of re_compile_pattern is a variable, which others may write after this call. */
        if (!source->posix && make(twin, own))
            atomic_init(&twin->state, READY);
        if ((!source->posix && atomic_load(&twin->state) != READY) ||
            !insert((uintptr_t)own->buffer, twin))
            free_twin(twin);
    }
    errno = saved;
}

void okosu_twin_forked(void)
{
    atomic_flag_clear(&making);
}

static bool is_ready(struct twin *twin, const struct re_pattern_buffer *own)
{
    int state = atomic_load_explicit(&twin->state, memory_order_acquire), saved = errno;

    if (state == COLD &&
        atomic_fetch_add_explicit(&twin->uses, 1, memory_order_relaxed) + 1 >= WORTH &&
        atomic_compare_exchange_strong(&twin->state, &state, MAKING)) {
        state = make(twin, own) ? READY : NONE;
        atomic_store(&twin->state, state);
        errno = saved;
    }
    return state == READY;
}

enum okosu_twin_answer okosu_twin_find(const struct re_pattern_buffer *own, const char *text,
                                       size_t start, size_t size, struct re_pattern_buffer *twin)
{
    size_t from = start > BACK ? start - BACK : 0;
    struct twin *found = own->buffer && size <= TEXT_MOST ? lookup((uintptr_t)own->buffer) : NULL;

    /* A search in another locale than the pattern's folds case by that one's letters. */
    if (!found || start > size || own->translate || !is_home(&found->home) ||
        !is_ascii(text + from, size - from) || !is_ready(found, own))
        return OKOSU_TWIN_NONE;
    if (found->filter && okosu_filter_excludes(found->filter, text + start, size - start))
        return OKOSU_TWIN_NO_MATCH;
    /* The caller has a copy, since a search writes into it. */
    *twin = found->compiled;
    twin->regs_allocated = own->regs_allocated;
    twin->no_sub = own->no_sub;
    twin->not_bol = own->not_bol;
    twin->not_eol = own->not_eol;
    twin->newline_anchor = own->newline_anchor;
    return OKOSU_TWIN_SERVES;
}
