/* SPDX-License-Identifier: Apache-2.0 */
/* copy_fixed: the inline copies of fixed size, compiled once for each instruction set. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The copies of okosu/copy_inline.h as a file with some instruction set has them. */
struct copy_fixed {
    const char *variant; /* "inline-avx512" */
    uint64_t needs;      /* OKOSU_CPU_... */
    int width;           /* bytes of a vector */
    /* For each power of two from 16 to 4096: `calls` copies from src to dst. */
    void (*run[9])(char *dst, const char *src, size_t calls);
};
enum { COPY_FIXED_LEAST = 16, COPY_FIXED_SIZES = 9 };

extern const struct copy_fixed copy_fixed_base, copy_fixed_avx2, copy_fixed_avx512;
