/* SPDX-License-Identifier: Apache-2.0 */
/* copy_check: every variant and entry of copy; routine_check.c says how it is called. */
#include "copy_check.h"

#include "copy/route.h"

#include <stdio.h>

static const struct subject entries[] = {
    {.name = "okosu_copy", .copy = okosu_copy},
    {.name = "okosu_copy_near", .copy = okosu_copy_near},
    {.name = "okosu_copy_far", .copy = okosu_copy_far},
    {.name = "okosu_copy_move", .copy = okosu_copy_move, .overlaps = true},
    {.name = NULL},
};

static const struct okosu_variant *row(size_t i, struct subject subjects[2])
{
    const struct okosu_copy_variant *found = okosu_copy_table()[i];
    static char moves[64];

    if (!found)
        return NULL;
    snprintf(moves, sizeof(moves), "%s (move)", found->about.name);
    subjects[0] = (struct subject){.name = found->about.name, .copy = found->copy};
    subjects[1] = (struct subject){.name = moves, .copy = found->move, .overlaps = true};
    return &found->about;
}

/* Nothing, from and to wherever it may be. */
static bool check_nothing(const struct subject *subject)
{
    unsigned char byte = 7;
    void *nowhere = (void *)(uintptr_t)1;
    bool right = subject->copy(NULL, NULL, 0) == NULL &&
                 subject->copy(nowhere, NULL, 0) == nowhere &&
                 subject->copy(&byte, nowhere, 0) == &byte && byte == 7;

    if (!right)
        printf("%s of nothing does something\n", subject->name);
    return right;
}

static bool check(const struct subject *subject)
{
    return check_offsets(subject) && check_pairs(subject) && check_thresholds(subject) &&
           check_guards(subject) && check_nothing(subject) &&
           (!subject->overlaps || (check_overlap(subject) && check_large_overlap(subject)));
}

static const struct okosu_variant *chosen(size_t use, size_t n)
{
    return &okosu_copy_chosen((enum okosu_copy_use)use, n)->about;
}

static size_t choice(size_t use, struct okosu_sizeclass classes[OKOSU_CHOOSE_CLASSES])
{
    struct okosu_copy_class found[OKOSU_COPY_CLASSES];
    size_t count = okosu_copy_choice((enum okosu_copy_use)use, found);

    for (size_t i = 0; i < count; i++)
        classes[i] = (struct okosu_sizeclass){found[i].up_to, &found[i].variant->about};
    return count;
}

extern const struct subject broken[];
static const char *const uses[] = {"any", "near", "far", NULL};

const struct area area = {
    .uses = uses,
    .row = row,
    .entries = entries,
    .broken = broken,
    .check = check,
    .force = okosu_copy_force,
    .profile = okosu_copy_profile_explained,
    .state = okosu_copy_state,
    .chosen = chosen,
    .choice = choice,
    .automatic = okosu_copy_automatic,
};
