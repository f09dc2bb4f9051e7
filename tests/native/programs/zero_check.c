/* SPDX-License-Identifier: Apache-2.0 */
/* zero_check: every variant and entry of zero; routine_check.c says how it is called. */
#include "routine_check.h"

#include "zero/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *zero(void *p, int byte, size_t n)
{
    return okosu_zero(p, n);
}

static void *zero_near(void *p, int byte, size_t n)
{
    return okosu_zero_near(p, n);
}

static void *zero_far(void *p, int byte, size_t n)
{
    return okosu_zero_far(p, n);
}

static const struct subject entries[] = {
    {.name = "okosu_set", .set = okosu_set},
    {.name = "okosu_set_near", .set = okosu_set_near},
    {.name = "okosu_set_far", .set = okosu_set_far},
    {.name = "okosu_zero", .set = zero, .zero_only = true},
    {.name = "okosu_zero_near", .set = zero_near, .zero_only = true},
    {.name = "okosu_zero_far", .set = zero_far, .zero_only = true},
    {.name = NULL},
};

#if defined(__x86_64__)
/* What the public functions are where no wider vectors are to be had. */
void *okosu_set_avx2_0(void *p, int byte, size_t n), *okosu_set_sse2_0(void *p, int byte, size_t n);
#endif

static const struct okosu_variant *row(size_t i, struct subject subjects[2])
{
    const struct okosu_zero_variant *found = okosu_zero_table()[i];

    if (!found)
        return NULL;
    subjects[0] = (struct subject){.name = found->about.name, .set = found->set};
    subjects[1] = (struct subject){.name = NULL};
#if defined(__x86_64__)
    if (strcmp(found->about.name, "avx2") == 0)
        subjects[1] = (struct subject){.name = "avx2 (entry)", .set = okosu_set_avx2_0};
    if (strcmp(found->about.name, "sse2") == 0)
        subjects[1] = (struct subject){.name = "sse2 (entry)", .set = okosu_set_sse2_0};
#endif
    return &found->about;
}

static bool check(const struct subject *subject)
{
    return check_offsets(subject) && check_bytes(subject) && check_thresholds(subject) &&
           check_guards(subject);
}

/* 4 KiB and 2 MiB become zero, and nothing beyond them. */
static bool check_page(size_t bytes)
{
    unsigned char *memory = aligned_alloc(4096, bytes + 8192);
    bool right = memory != NULL;

    for (size_t i = 0; right && i < bytes + 8192; i++)
        memory[i] = (unsigned char)(i * 7 | 1);
    if (right)
        okosu_zero_page(memory + 4096, bytes);
    for (size_t i = 0; right && i < bytes + 8192; i++) {
        bool inside = i >= 4096 && i < 4096 + bytes;
        right = memory[i] == (inside ? 0 : (unsigned char)(i * 7 | 1));
    }
    printf("%s: page of %zu bytes\n", right ? "ok" : "WRONG", bytes);
    free(memory);
    return right;
}

static bool check_pages(void)
{
    bool small = check_page(4096), huge = check_page(2 << 20);

    return small && huge;
}

static const struct okosu_variant *chosen(size_t use, size_t n)
{
    return &okosu_zero_chosen((enum okosu_zero_use)use, n)->about;
}

static size_t choice(size_t use, struct okosu_sizeclass classes[OKOSU_CHOOSE_CLASSES])
{
    struct okosu_zero_class found[OKOSU_ZERO_CLASSES];
    size_t count = okosu_zero_choice((enum okosu_zero_use)use, found);

    for (size_t i = 0; i < count; i++)
        classes[i] = (struct okosu_sizeclass){found[i].up_to, &found[i].variant->about};
    return count;
}

extern const struct subject broken[];
static const char *const uses[] = {"any", "near", "far", "page", NULL};

const struct area area = {
    .uses = uses,
    .row = row,
    .entries = entries,
    .broken = broken,
    .check = check,
    .check_more = check_pages,
    .force = okosu_zero_force,
    .profile = okosu_zero_profile_explained,
    .state = okosu_zero_state,
    .chosen = chosen,
    .choice = choice,
    .automatic = okosu_zero_automatic,
};
