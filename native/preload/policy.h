/* SPDX-License-Identifier: Apache-2.0 */
/* How much may be put on huge pages: budget, density, back-off. large.c and maps.c then do it.
 *
 * 1. What is granted and not yet returned never exceeds the budget, whatever threads ask at once.
 *
 * 2. A caller that was granted chunks returns exactly as many, when it frees the memory.
 *
 * 3. A grant of less than was asked for counts one reason. */
#pragma once

#include "config.h"

#include <stdbool.h>
#include <stddef.h>

/* After a first chunk that did not become huge, this many requests are refused before the next
 * try. */
#define OKOSU_BACKOFF_TRIES 8

/* How many whole chunks of a block, whose `bytes` are counted from a chunk's start, are dense
 * enough: all that it fills, and the last one if it covers at least the configured share of it. */
size_t okosu_policy_dense(size_t bytes);

enum okosu_kind { OKOSU_KIND_THP, OKOSU_KIND_HUGETLB };

/* Reads the kernel's settings, which is else done at the first block. */
void okosu_policy_begin(void);

/* Asks for `chunks` chunks on huge pages of that kind; returns how many are granted, 0..chunks. */
size_t okosu_policy_grant(size_t chunks, enum okosu_kind kind);
void okosu_policy_return(size_t chunks);

/* hugetlb pages may be used for the next block (asked for, and no fork so far). */
bool okosu_policy_hugetlb(void);

/* Report whether a granted first chunk became huge. */
void okosu_policy_outcome(bool huge);

/* The process forked: from now on neither parent nor child uses hugetlb pages. */
void okosu_policy_forked(void);

void okosu_policy_prefork(void);
void okosu_policy_postfork(void);
