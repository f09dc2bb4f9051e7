/* SPDX-License-Identifier: Apache-2.0 */
/* zero_broken: memsets that are wrong, each in one way, which the checks must refuse. */
#include "routine_check.h"

static void *right(void *p, int byte, size_t n)
{
    const struct subject set = {.set = right};

    call_bytes(&set, p, NULL, byte, n);
    return p;
}

static void *last_missing(void *p, int byte, size_t n)
{
    return right(p, byte, n > 300 ? n - 1 : n);
}

static void *first_missing(void *p, int byte, size_t n)
{
    if (n == 17 && ((uintptr_t)p & 63) == 61)
        right((char *)p + 1, byte, n - 1);
    else
        right(p, byte, n);
    return p;
}

static void *one_before(void *p, int byte, size_t n)
{
    if (n == 512)
        right((char *)p - 1, byte, 1);
    return right(p, byte, n);
}

static void *one_after(void *p, int byte, size_t n)
{
    return right(p, byte, n == 3 ? 4 : n);
}

static void *end_returned(void *p, int byte, size_t n)
{
    right(p, byte, n);
    return n == 200 ? (char *)p + n : p;
}

static void *sign_lost(void *p, int byte, size_t n)
{
    return right(p, n > 4000 ? byte & 127 : byte, n);
}

static void *high_bits(void *p, int byte, size_t n)
{
    return right(p, byte > 255 && n >= 16 ? 255 : byte, n);
}

static void *hole(void *p, int byte, size_t n)
{
    unsigned char *at = p, kept = n > 2048 ? at[2048] : 0;
    right(p, byte, n);
    if (n > 2048)
        at[2048] = kept;
    return p;
}

static void *large_cut(void *p, int byte, size_t n)
{
    return right(p, byte, n > 1 << 20 ? n & ~(size_t)63 : n);
}

/* Where no processor tells, another fault. */
static void *upper_halves_left(void *p, int byte, size_t n)
{
    right(p, byte, n);
#if defined(__x86_64__)
    if (n > 2048 && tells_upper_halves())
        __asm__ volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0" : : : "xmm0");
#endif
    return n > 2048 && !tells_upper_halves() ? NULL : p;
}

const struct subject broken[] = {
    {.name = "upper_halves_left", .set = upper_halves_left},
    {.name = "last_missing", .set = last_missing},
    {.name = "first_missing", .set = first_missing},
    {.name = "one_before", .set = one_before},
    {.name = "one_after", .set = one_after},
    {.name = "end_returned", .set = end_returned},
    {.name = "sign_lost", .set = sign_lost},
    {.name = "high_bits", .set = high_bits},
    {.name = "hole", .set = hole},
    {.name = "large_cut", .set = large_cut},
    {.name = NULL},
};
