/* SPDX-License-Identifier: Apache-2.0 */
/* routine_check: what the checks of copy and of zero share: one call of a routine beside a loop over
 * bytes, and everything that is said of a choice. */
#pragma once

#include "choose/choose.h"

#include <stdbool.h>
#include <stddef.h>

typedef void *copy_function(void *dst, const void *src, size_t n);
typedef void *set_function(void *p, int byte, size_t n);

/* A routine under test: a copy, or where `copy` is NULL a set. */
struct subject {
    const char *name;
    copy_function *copy;
    bool overlaps; /* it is a memmove */
    set_function *set;
    bool zero_only; /* it sets to 0 whatever it is asked for */
};

/* What the checks ask of an area, copy or zero. Tables of subjects end with a NULL name. */
struct area {
    const char *const *uses; /* NULL-ended */
    /* The subjects of row i of the table, one or two; NULL: there is no such row. */
    const struct okosu_variant *(*row)(size_t i, struct subject subjects[2]);
    const struct subject *entries, *broken;
    bool (*check)(const struct subject *subject); /* all checks of one routine */
    bool (*check_more)(void);                     /* of the area besides; NULL: nothing */
    int (*force)(const char *name);
    int (*profile)(const char *path, struct okosu_reason *reason);
    int (*state)(struct okosu_reason *reason);
    const struct okosu_variant *(*chosen)(size_t use, size_t n);
    size_t (*choice)(size_t use, struct okosu_sizeclass classes[OKOSU_CHOOSE_CLASSES]);
    void (*automatic)(uint64_t features, const struct okosu_caches *caches,
                      struct okosu_sizeclasses *choices);
};
extern const struct area area;

/* Bytes without a short period, so that what lands in a wrong place is seen. */
static inline unsigned char pattern(size_t i)
{
    return (unsigned char)((i * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

/* One call; the pointer that it returned. `src` is a copy's, `byte` a set's. */
void *call(const struct subject *subject, void *dst, const void *src, int byte, size_t n);
/* The oracle of the same call: a loop over bytes, volatile, lest the compiler makes the routine under
 * test of it. Copies go in the direction that does no harm. */
void call_bytes(const struct subject *subject, unsigned char *dst, const unsigned char *src,
                int byte, size_t n);

bool all_are(const unsigned char *p, size_t count, int byte);

/* Whether the next of many like cases is to be checked: each, or every OKOSU_CHECK_STEP-th where that
 * variable says so, for builds in which each takes long. The broken routines meet every case. */
bool is_due(void);

/* Whether the processor tells if the upper halves of ymm0 to ymm15 are in use (XGETBV with 1 in ECX; Intel
 * SDM volume 1, section 13.2). A routine that does not clean them makes the caller's SSE instructions slow
 * on many processors of Intel's. */
bool tells_upper_halves(void);

/* Each returns whether the subject is right, and prints the first thing that is wrong. */
bool check_offsets(const struct subject *subject);
bool check_pairs(const struct subject *subject);
bool check_bytes(const struct subject *subject);
bool check_thresholds(const struct subject *subject);
bool check_guards(const struct subject *subject);
