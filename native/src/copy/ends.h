/* SPDX-License-Identifier: Apache-2.0 */
/* ends: vector.h, and copies of four to eight vectors of its width, for AArch64; x86-64 has entries of
 * its own (entry_x86.S). */
#include "copy/vector.h"

/* Four vectors at each end; they overlap in the middle or just meet. */
static inline __attribute__((always_inline)) void *ends4(char *dst, const char *src, size_t n)
{
    okosu_copy_vector a = load(src), b = load(src + W);
    okosu_copy_vector c = load(src + 2 * W), d = load(src + 3 * W);
    okosu_copy_vector w = load(src + n - 4 * W), x = load(src + n - 3 * W);
    okosu_copy_vector y = load(src + n - 2 * W), z = load(src + n - W);
    store(dst, a);
    store(dst + W, b);
    store(dst + 2 * W, c);
    store(dst + 3 * W, d);
    store(dst + n - 4 * W, w);
    store(dst + n - 3 * W, x);
    store(dst + n - 2 * W, y);
    store(dst + n - W, z);
    return dst;
}
