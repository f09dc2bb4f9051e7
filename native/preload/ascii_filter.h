/* SPDX-License-Identifier: Apache-2.0 */
/* A filter tells text of ASCII in which a pattern has no match, without a search: a deterministic
 * automaton of a superset of what the pattern matches.
 *
 * 1. Where the filter says no, no search from any position of that text finds a match. Where it does
 * not, there may be none either.
 * 2. It is complete when it is made, and only read then. */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OKOSU_ASCII 128

/* Characters: bit c % 64 of word c / 64. */
struct okosu_ascii_set {
    uint64_t bits[OKOSU_ASCII / 64];
};

/* A pattern, and what each of its bracket expressions takes, in their order. */
struct okosu_filter_pattern {
    const char *text;
    size_t size;
    reg_syntax_t syntax;
    const struct okosu_ascii_set *brackets;
    unsigned bracket_count;
};

struct okosu_filter;

/* NULL: none is worth its place, it would be too large, or the pattern has something that it does not
 * know. free() gives it back. */
struct okosu_filter *okosu_filter_make(const struct okosu_filter_pattern *pattern);
/* Whether nothing matches that begins in `text`. Bytes that are not ASCII must not be in it. */
bool okosu_filter_excludes(const struct okosu_filter *filter, const char *text, size_t size);
/* The size of the bracket expression that `text` begins with, as libc reads it where it is ended by a
 * bracket; 0: it has a collating element or a class of equivalents, or no end. */
size_t okosu_bracket_size(const char *text, size_t left, reg_syntax_t syntax);
