/* SPDX-License-Identifier: Apache-2.0 */
/* The lever ascii: in a language's UTF-8 locale, text that is plain ASCII is compared and matched by
 * cheaper means that have the same outcome (docs/ASCII.md).
 *
 * 1. What a call returns is what libc's own would. Where that is not certain from libc's own tables,
 * from a check against libc or from the text, libc serves the call.
 * 2. No call waits for another: where a table or a twin is being made, or there is no room for it,
 * libc serves. A child of fork can go on with what its parent had. */
#pragma once

#include <langinfo.h>
#include <locale.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libc's own functions, or those of a library that was preloaded behind this one. */
struct okosu_ascii_next {
    int (*strcoll)(const char *, const char *);
    int (*strcoll_l)(const char *, const char *, locale_t);
    char *(*setlocale)(int, const char *);
    void (*freelocale)(locale_t);
    const char *(*re_compile_pattern)(const char *, size_t, struct re_pattern_buffer *);
    regoff_t (*re_search)(struct re_pattern_buffer *, const char *, regoff_t, regoff_t, regoff_t,
                          struct re_registers *);
    regoff_t (*re_match)(struct re_pattern_buffer *, const char *, regoff_t, regoff_t,
                         struct re_registers *);
    int (*regcomp)(regex_t *restrict, const char *restrict, int);
    int (*regexec)(const regex_t *restrict, const char *restrict, size_t, regmatch_t *restrict,
                   int);
    void (*regfree)(regex_t *);
};

extern struct okosu_ascii_next okosu_ascii_next;

/* Resolves okosu_ascii_next; harmless to repeat. */
void okosu_ascii_begin(void);

/* Counts the times at which a locale's tables may have been unmapped, and others mapped in their place: the
 * address of a table says whose it is within one epoch only. */
extern atomic_uint okosu_ascii_epoch;

/* ascii_order.c: the order of strings. */

/* How the strings compare in the calling thread's locale (`where` NULL) or in `where`: less than, equal to or
 * greater than 0 as with strcoll. Returns false where libc has to say. */
bool okosu_order_compare(const char *a, const char *b, locale_t where, int *result);
/* Whether no sequence of ASCII characters counts as one in the calling thread's locale. */
bool okosu_order_is_of_characters(void);
/* In a child of fork, where nobody is making a table. */
void okosu_order_forked(void);

/* ascii_twin.c: a compiled pattern's twin, which is the same pattern compiled in the C locale. */

/* What compiled the pattern: regcomp with these flags, or re_compile_pattern. */
struct okosu_twin_source {
    bool posix;
    int flags;
};

/* `own` was just compiled from `pattern`, of `size` bytes. errno stays. */
void okosu_twin_make(const struct okosu_twin_source *source, const char *pattern, size_t size,
                     const struct re_pattern_buffer *own);
/* The pattern compiled in `own` is about to go. */
void okosu_twin_drop(const struct re_pattern_buffer *own);
/* In a child of fork, where nobody is making a twin. */
void okosu_twin_forked(void);
enum okosu_twin_answer {
    OKOSU_TWIN_NONE,     /* there is no twin, or the text is not ASCII */
    OKOSU_TWIN_SERVES,   /* `twin` is what to search in place of `own` */
    OKOSU_TWIN_NO_MATCH, /* nothing that begins at `start` or behind it matches */
};

/* What is to be done with a search of `size` bytes of `text` that begins at `start` or behind it. */
enum okosu_twin_answer okosu_twin_find(const struct re_pattern_buffer *own, const char *text,
                                       size_t start, size_t size, struct re_pattern_buffer *twin);
