/* SPDX-License-Identifier: Apache-2.0 */
/* select: the automatic choice. */
#include "copy/select.h"
#include "copy/rows.h"

/* Where nobody tells the caches: sizes that any processor of the last ten years has. */
enum { L1D_AT_LEAST = 32 << 10, L2_AT_LEAST = 256 << 10, L3_AT_LEAST = 4 << 20 };

static const struct okosu_copy_variant *widest(uint64_t features, bool streams)
{
    const struct okosu_copy_variant *best = okosu_copy_always;
    for (const struct okosu_copy_variant *const *row = okosu_copy_table(); *row; row++)
        if (okosu_copy_is_vector(*row) && okosu_copy_possible(*row, features) &&
            (*row)->streams == streams)
            best = *row;
    return best;
}

static void add(struct okosu_copy_plan *plan, enum okosu_copy_use use, size_t up_to,
                const struct okosu_copy_variant *variant)
{
    size_t *count = &plan->count[use];
    /* A class whose neighbour is the same variant is no class. */
    if (*count && plan->classes[use][*count - 1].variant == variant)
        --*count;
    plan->classes[use][(*count)++] = (struct okosu_copy_class){up_to, variant};
}

void okosu_copy_plan_automatic(struct okosu_copy_plan *plan, uint64_t features,
                               const struct okosu_caches *caches)
{
    const struct okosu_copy_variant *vector = widest(features, false);
    const struct okosu_copy_variant *stream = widest(features, true);
    const struct okosu_copy_variant *large = vector;
    size_t l1d = caches->l1d ? caches->l1d : L1D_AT_LEAST;
    size_t l2 = caches->l2 ? caches->l2 : L2_AT_LEAST;
    size_t l3 = caches->l3 ? caches->l3 : L3_AT_LEAST;

    for (enum okosu_copy_use use = 0; use < OKOSU_COPY_USES; use++)
        plan->count[use] = 0;
#if defined(__x86_64__)
    if (features & OKOSU_CPU_ERMS)
        large = &okosu_copy_row_rep_movsb;
#endif
    (void)l2, (void)l3, (void)stream;
    for (enum okosu_copy_use use = 0; use < OKOSU_COPY_USES; use++) {
        add(plan, use, l1d / 2, vector);
        add(plan, use, SIZE_MAX, large);
    }
}

void okosu_copy_plan_one(struct okosu_copy_plan *plan, const struct okosu_copy_variant *variant)
{
    for (enum okosu_copy_use use = 0; use < OKOSU_COPY_USES; use++) {
        plan->count[use] = 0;
        add(plan, use, SIZE_MAX, variant);
    }
}
