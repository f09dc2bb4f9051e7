/* SPDX-License-Identifier: Apache-2.0 */
/* lately: a guess whether the bytes at a destination are in the first-level cache. Vectors copy to
 * there 1.6 times as fast as a string instruction does, and to memory 15 % slower (Zen 5, 4 to 24
 * KiB), so that no routine is right for both; but a program that copies to a cached destination has
 * mostly copied to it before. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OKOSU_COPY_LATELY = 4 };

/* The first-level cache where the machine does not tell its size: any processor of the last ten years
 * has this. */
enum { OKOSU_COPY_L1D_AT_LEAST = 32 << 10 };

/* This thread's last destinations, by the page of their first byte: of copies of different lengths as
 * many as the first-level cache holds. A signal handler that copies meanwhile spoils one guess.
 * While the destinations stay the same nothing is written, for even one store took a copy of 4 KiB
 * from unaligned memory 20 cycles. */
extern _Thread_local uintptr_t okosu_copy_lately[OKOSU_COPY_LATELY]
    /* A call of __tls_get_addr would take as long as the guess saves. */
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
/* For copies of at most `most` bytes, half of the first-level cache. */
static inline __attribute__((always_inline)) bool okosu_copy_was_lately(const void *dst, size_t n,
                                                                        size_t most)
{
    uintptr_t page = (uintptr_t)dst >> 12;
    uintptr_t *known = &okosu_copy_lately[page & (n > most / 2 ? 0 : n > most / 4 ? 1 : 3)];

    if (*known == page)
        return true;
    *known = page;
    return false;
}

/* That limit on this machine. Called from the entries before and while a choice is made. */
size_t okosu_copy_lately_most(void);
