/* SPDX-License-Identifier: Apache-2.0 */
/* How much may be put on huge pages: budget, density, back-off. Mechanism is in large.c and maps.c.
 *
 * 1. What is granted and not yet returned never exceeds the budget, whatever threads ask at once.
 * 2. Whoever was granted chunks returns exactly as many, when the memory is given back.
 * 3. A grant that is less than what was asked for counts one reason. */
#pragma once

#include "config.h"

#include <stdbool.h>
#include <stddef.h>

/* After a first chunk that did not become huge, that many grants are refused before the next
 * try. */
#define OKOSU_BACKOFF_TRIES 8

/* Whole chunks that a block of `bytes` bytes counted from a chunk's start is dense enough for: all
 * that it fills, and the last one if it covers at least the configured share of it. */
size_t okosu_policy_dense(size_t bytes);

enum okosu_kind { OKOSU_KIND_THP, OKOSU_KIND_HUGETLB };

/* Asks for `chunks` chunks on huge pages of that kind: 0..chunks of them are granted. */
size_t okosu_policy_grant(size_t chunks, enum okosu_kind kind);
void okosu_policy_return(size_t chunks);

/* hugetlb pages may be used for the next block (asked for, and no fork so far). */
bool okosu_policy_hugetlb(void);

/* What became of a granted first chunk. */
void okosu_policy_outcome(bool huge);

/* The process forked: hugetlb pages are used no more, in parent and child. */
void okosu_policy_forked(void);

void okosu_policy_prefork(void);
void okosu_policy_postfork(void);
