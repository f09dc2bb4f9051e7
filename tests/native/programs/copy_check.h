/* SPDX-License-Identifier: Apache-2.0 */
/* copy_check: what the checks of memcpy-like routines share with the routines that they must
 * refuse. */
#ifndef COPY_CHECK_H
#define COPY_CHECK_H

#include <stdbool.h>
#include <stddef.h>

typedef void *copy_function(void *dst, const void *src, size_t n);

/* Routines that are wrong, each in one way, ended by a NULL name. */
struct broken {
    const char *name;
    copy_function *copy;
    bool overlaps; /* shown as a memmove */
};
extern const struct broken broken_table[];

/* A routine under test. */
struct subject {
    const char *name;
    copy_function *copy;
    bool overlaps; /* it is a memmove */
};

/* The oracle: a loop over bytes from the end that does no harm; volatile, lest the compiler makes
 * the routine under test of it. */
static inline void copy_bytes(unsigned char *dst, const unsigned char *src, size_t n)
{
    if (dst < src)
        for (size_t i = 0; i < n; i++)
            ((volatile unsigned char *)dst)[i] = src[i];
    else
        while (n--)
            ((volatile unsigned char *)dst)[n] = src[n];
}

/* Bytes without a short period, so that what lands in a wrong place is seen. */
static inline unsigned char pattern(size_t i)
{
    return (unsigned char)((i * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

/* Sizes round which some variant or the choice changes its way: fills `sizes`, returns how many. */
enum { THRESHOLDS = 64 };
size_t thresholds(size_t sizes[THRESHOLDS]);

/* Each returns whether the subject is right, and prints the first thing that is wrong. */
bool check_offsets(const struct subject *subject);
bool check_pairs(const struct subject *subject);
bool check_thresholds(const struct subject *subject);
bool check_guards(const struct subject *subject);
bool check_nothing(const struct subject *subject);
bool check_overlap(const struct subject *subject);
bool check_large_overlap(const struct subject *subject);

#endif
