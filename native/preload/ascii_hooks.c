/* SPDX-License-Identifier: Apache-2.0 */
/* libokosu-ascii.so: the functions of libc that the lever ascii serves, and its evidence. */
#include "ascii.h"
#include "companion.h"
#include "proof.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#define next okosu_ascii_next

struct okosu_ascii_next okosu_ascii_next;
atomic_uint okosu_ascii_epoch;

/* Each thread counts in a slot of its own, so that threads do not take a line of the cache from each
 * other with every call. Threads beyond the last slot share it, where a count may be lost: each is a
 * lower bound. */
#define SLOTS 64
enum what { COMPARED, SEARCHED, PASSED, KINDS };

static struct {
    _Atomic uint64_t calls[KINDS];
} __attribute__((aligned(64))) slots[SLOTS];
static atomic_uint taken;
/* One more than the number of the thread's slot; 0: it has none yet. */
static __thread unsigned own_slot __attribute__((tls_model("initial-exec")));
/* libc serves every call. */
static atomic_bool inert __attribute__((aligned(64)));

static void count(enum what what)
{
    _Atomic uint64_t *counter;

    if (__builtin_expect(!own_slot, 0)) {
        unsigned slot = atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);

        own_slot = 1 + (slot < SLOTS ? slot : SLOTS - 1);
    }
    counter = &slots[own_slot - 1].calls[what];
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static uint64_t sum(enum what what)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < SLOTS; i++)
        all += atomic_load_explicit(&slots[i].calls[what], memory_order_relaxed);
    return all;
}

void okosu_ascii_begin(void)
{
    if (next.regfree)
        return;
#define RESOLVE(name) *(void **)&next.name = dlsym(RTLD_NEXT, #name)
    RESOLVE(strcoll);
    RESOLVE(strcoll_l);
    RESOLVE(setlocale);
    RESOLVE(freelocale);
    RESOLVE(re_compile_pattern);
    RESOLVE(re_search);
    RESOLVE(re_match);
    RESOLVE(regcomp);
    RESOLVE(regexec);
    RESOLVE(regfree);
#undef RESOLVE
}

/* Constructors of the program's libraries come before any of ours where those depend on each other. */
static void ready(void)
{
    if (__builtin_expect(!next.regfree, 0))
        okosu_ascii_begin();
}

static bool serving(void)
{
    ready();
    return !atomic_load_explicit(&inert, memory_order_relaxed);
}

OKOSU_EXPORT int strcoll(const char *a, const char *b)
{
    int result;

    if (serving() && okosu_order_compare(a, b, NULL, &result)) {
        count(COMPARED);
        return result;
    }
    count(PASSED);
    return next.strcoll(a, b);
}

OKOSU_EXPORT int strcoll_l(const char *a, const char *b, locale_t where)
{
    int result;

    if (serving() && where != LC_GLOBAL_LOCALE && okosu_order_compare(a, b, where, &result)) {
        count(COMPARED);
        return result;
    }
    count(PASSED);
    return next.strcoll_l(a, b, where);
}

/* libstdc++ calls it by this name. */
int __strcoll_l(const char *a, const char *b, locale_t where);
OKOSU_EXPORT int __strcoll_l(const char *a, const char *b, locale_t where)
{
    return strcoll_l(a, b, where);
}

OKOSU_EXPORT char *setlocale(int category, const char *name)
{
    char *answer;

    ready();
    answer = next.setlocale(category, name);
    if (name && (category == LC_ALL || category == LC_COLLATE || category == LC_CTYPE))
        atomic_fetch_add(&okosu_ascii_epoch, 1);
    return answer;
}

OKOSU_EXPORT void freelocale(locale_t where)
{
    ready();
    next.freelocale(where);
    atomic_fetch_add(&okosu_ascii_epoch, 1);
}

OKOSU_EXPORT const char *re_compile_pattern(const char *pattern, size_t size,
                                            struct re_pattern_buffer *into)
{
    const char *error;

    ready();
    if (into->allocated)
        okosu_twin_drop(into);
    error = next.re_compile_pattern(pattern, size, into);
    if (!error)
        okosu_twin_make(&(struct okosu_twin_source){0}, pattern, size, into);
    return error;
}

OKOSU_EXPORT int regcomp(regex_t *restrict into, const char *restrict pattern, int flags)
{
    int error;

    ready();
    error = next.regcomp(into, pattern, flags);
    if (!error)
        okosu_twin_make(&(struct okosu_twin_source){.posix = true, .flags = flags}, pattern,
                        strlen(pattern), into);
    return error;
}

OKOSU_EXPORT void regfree(regex_t *own)
{
    ready();
    okosu_twin_drop(own);
    next.regfree(own);
}

/* Who serves a search that begins at `from` or behind it. */
static enum okosu_twin_answer asked(const struct re_pattern_buffer *own, const char *text,
                                    regoff_t from, regoff_t size, struct re_pattern_buffer *twin)
{
    enum okosu_twin_answer answer = OKOSU_TWIN_NONE;

    if (serving() && from >= 0 && size >= from)
        answer = okosu_twin_find(own, text, (size_t)from, (size_t)size, twin);
    count(answer == OKOSU_TWIN_NONE ? PASSED : SEARCHED);
    return answer;
}

OKOSU_EXPORT regoff_t re_search(struct re_pattern_buffer *own, const char *text, regoff_t size,
                                regoff_t start, regoff_t range, struct re_registers *found)
{
    struct re_pattern_buffer twin;
    regoff_t at;

    switch (asked(own, text, range < 0 ? 0 : start, size, &twin)) {
    case OKOSU_TWIN_NO_MATCH:
        return -1;
    case OKOSU_TWIN_SERVES:
        at = next.re_search(&twin, text, size, start, range, found);
        own->regs_allocated = twin.regs_allocated;
        return at;
    default:
        return next.re_search(own, text, size, start, range, found);
    }
}

OKOSU_EXPORT regoff_t re_match(struct re_pattern_buffer *own, const char *text, regoff_t size,
                               regoff_t start, struct re_registers *found)
{
    struct re_pattern_buffer twin;
    regoff_t matched;

    switch (asked(own, text, start, size, &twin)) {
    case OKOSU_TWIN_NO_MATCH:
        return -1;
    case OKOSU_TWIN_SERVES:
        matched = next.re_match(&twin, text, size, start, found);
        own->regs_allocated = twin.regs_allocated;
        return matched;
    default:
        return next.re_match(own, text, size, start, found);
    }
}

OKOSU_EXPORT int regexec(const regex_t *restrict own, const char *restrict text, size_t room,
                         regmatch_t found[restrict room], int flags)
{
    struct re_pattern_buffer twin;
    regoff_t from = 0, size;

    if (flags & REG_STARTEND) {
        from = found[0].rm_so;
        size = found[0].rm_eo;
    } else {
        size_t length = strlen(text);

        size = length > INT_MAX ? -1 : (regoff_t)length;
    }
    /* libc refuses flags that it does not know. */
    if (flags & ~(REG_NOTBOL | REG_NOTEOL | REG_STARTEND))
        return next.regexec(own, text, room, found, flags);
    switch (asked(own, text, from, size, &twin)) {
    case OKOSU_TWIN_NO_MATCH:
        return REG_NOMATCH;
    case OKOSU_TWIN_SERVES:
        return next.regexec(&twin, text, room, found, flags);
    default:
        return next.regexec(own, text, room, found, flags);
    }
}

static void forked(bool stop)
{
    if (stop)
        atomic_store(&inert, true);
    okosu_order_forked();
    okosu_twin_forked();
    for (unsigned i = 0; i < SLOTS; i++) {
        for (unsigned what = 0; what < KINDS; what++)
            atomic_store(&slots[i].calls[what], 0);
    }
}

static void evidence(struct okosu_proof *proof)
{
    static char text[512];
    struct okosu_line l = OKOSU_LINE(text);
    struct okosu_json json = {.line = &l};

    okosu_proof_open(&json, proof);
    okosu_json_string(&json, "by", "ascii");
    okosu_json_unsigned(&json, "compared", sum(COMPARED));
    okosu_json_unsigned(&json, "searched", sum(SEARCHED));
    okosu_json_unsigned(&json, "passed", sum(PASSED));
    okosu_proof_close(&json, proof);
}

OKOSU_EXPORT const struct okosu_companion okosu_companion_ascii = {
    .library = "libokosu-ascii.so",
    .begin = okosu_ascii_begin,
    .forked = forked,
    .evidence = evidence,
};
