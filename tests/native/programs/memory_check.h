/* SPDX-License-Identifier: Apache-2.0 */
/* memory_check: what the checks of copy and of zero share: canaries round the bytes that a routine
 * writes, and memory between pages that are not there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Bytes of canaries at each end; a line of the cache. */
enum { MARGIN = 128, LINE = 64 };

/* p[from] up to p[to - 1] become what no routine under test writes by chance. */
void put_canaries(unsigned char *p, size_t from, size_t to);

/* End a message about a call on bytes from got + first: what differs in the first `room` bytes, and
 * where nothing does, that the call returned another address. */
void tell_difference(const unsigned char *got, const unsigned char *want, size_t room,
                     size_t first);

/* Whole pages from `first` to `end`, between two that are not there. */
struct guarded {
    unsigned char *first, *end, *memory;
    size_t bytes;
};

/* At least `inner` bytes; false: there is no memory. */
bool guarded_make(struct guarded *area, size_t inner);
void guarded_drop(struct guarded *area);
