/* SPDX-License-Identifier: Apache-2.0 */
/* neon: AArch64's baseline: vectors of 16 bytes. */
#define OKOSU_COPY_WIDTH 16
#define OKOSU_COPY_NAME(x) x##_neon
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

void *okosu_copy_neon(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    if (n <= OKOSU_COPY_SMALL) {
        okosu_copy_small(dst, src, n);
        return to;
    }
    if (n <= 8 * W)
        return ends4(dst, src, n);
    return okosu_copy_large_neon(to, from, n);
}

OKOSU_ROUTINE(copy, 60, neon) = {
    .about = {.name = "neon", .needs = OKOSU_CPU_NEON, .doc = "16-byte moves, 64 bytes a turn"},
    .copy = okosu_copy_neon,
    .move = okosu_copy_neon,
};
