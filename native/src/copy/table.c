/* SPDX-License-Identifier: Apache-2.0 */
/* table: every variant of this build, from the plainest to the widest. */
#include "copy/rows.h"
#include "copy/select.h"

#include <stddef.h>

static const struct okosu_copy_variant *const rows[] = {
    &okosu_copy_row_ref,
    &okosu_copy_row_loop8,
#if defined(__x86_64__)
    &okosu_copy_row_rep_movsb,
    &okosu_copy_row_rep_line,
    &okosu_copy_row_block512,
    &okosu_copy_row_sse2,
    &okosu_copy_row_avx2,
    &okosu_copy_row_avx512,
    &okosu_copy_row_nt_sse2,
    &okosu_copy_row_nt_avx2,
    &okosu_copy_row_nt_avx512,
#endif
#if defined(__aarch64__)
    &okosu_copy_row_neon,
#endif
    NULL,
};

_Static_assert(offsetof(struct okosu_copy_variant, about) == 0, "a row is found by its about");

#if defined(__x86_64__)
const struct okosu_copy_variant *const okosu_copy_plainest = &okosu_copy_row_sse2;
#elif defined(__aarch64__)
const struct okosu_copy_variant *const okosu_copy_plainest = &okosu_copy_row_neon;
#else
const struct okosu_copy_variant *const okosu_copy_plainest = &okosu_copy_row_loop8;
#endif

const struct okosu_copy_variant *const *okosu_copy_table(void)
{
    return rows;
}

struct okosu_sizeclass_routine okosu_copy_routine(uint64_t features)
{
    static const char *const sections[] = {"", "near", "far", NULL};
    /* Written alike by whoever is here. */
    static const struct okosu_variant *table[sizeof(rows) / sizeof(rows[0])];

    for (size_t i = 0; rows[i]; i++)
        __atomic_store_n(&table[i], &rows[i]->about, __ATOMIC_RELAXED);
    return (struct okosu_sizeclass_routine){table, features, sections};
}
