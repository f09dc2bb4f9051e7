/* SPDX-License-Identifier: Apache-2.0 */
/* copy_routes SECOND [UP-TO VARIANT]...: whether what okosu_copy's routes say of each size is what was chosen for it.
 * SECOND: l where an entry's second variant is `lately`, s where it is `string`, or any other word. The variants are
 * stand-ins that say who was called, and the entry is what copy/route.h describes. */
#define okosu_copy_own own_of_tests
#include "copy/copy.c"
#include "copy/lately.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *served;
#define ROW(row, text)                                                                             \
    static void *copy_##row(void *dst, const void *src, size_t n)                                  \
    {                                                                                              \
        served = text;                                                                             \
        return dst;                                                                                \
    }                                                                                              \
    static void *move_##row(void *dst, const void *src, size_t n)                                  \
    {                                                                                              \
        served = text " move";                                                                     \
        return dst;                                                                                \
    }                                                                                              \
    static const struct okosu_copy_variant row = {{.name = text}, copy_##row, move_##row, false}
ROW(own, "own");
ROW(lately, "lately");
ROW(string, "string");
ROW(stream, "stream");
const struct okosu_copy_variant *const okosu_copy_rows[] = {&own, &lately, &string, &stream, NULL};
const struct okosu_variant *const okosu_copy_row_names[] = {&own.about, &lately.about,
                                                            &string.about, &stream.about, NULL};
const struct okosu_copy_variant OKOSU_COPY_PLAINEST = {
    {.name = "plainest"}, copy_own, move_own, false};

static struct okosu_copy_own entries = {.variant = &own, .always = 512};
const struct okosu_copy_own *own_of_tests(size_t r)
{
    return &entries;
}
static char **words;
void okosu_copy_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices)
{
    for (size_t use = 0; use < OKOSU_COPY_USES; use++)
        for (char **word = words; *word; word += 2)
            for (size_t i = 0; okosu_copy_rows[i]; i++)
                if (!strcmp(okosu_copy_rows[i]->about.name, word[1]))
                    okosu_sizeclass_add(&choices[use], strtoull(word[0], NULL, 10),
                                        &okosu_copy_rows[i]->about);
}

/* An entry as route.h describes it; some look at the limits for sizes of `always`, too. */
static void enter(size_t r, size_t n)
{
    uint64_t limits = okosu_copy_route_limits(r);
    bool move = r == OKOSU_COPY_ROUTE_MOVE;
    const struct okosu_copy_variant *by = NULL;
    if (n <= okosu_copy_own_limit(limits))
        by = &own;
    else if (n <= okosu_copy_second_limit(limits))
        by = r == OKOSU_COPY_ANY && entries.lately ? entries.lately : move ? NULL : entries.string;
    else
        okosu_copy_route_rest(r)(NULL, NULL, n);
    if (by)
        (move ? by->move : by->copy)(NULL, NULL, n);
}

int main(int argc, char **argv)
{
    static const size_t around[] = {1, 512, 600, 4096, 9000, 65536, SIZE_MAX};
    entries.lately = strchr(argv[1], 'l') ? &lately : NULL;
    entries.string = strchr(argv[1], 's') ? &string : NULL;
    words = argv + 2;
    for (size_t r = 0; r < OKOSU_COPY_ROUTES; r++)
        for (size_t i = 0; i < 7; i++)
            for (size_t n = around[i] - 1; n <= around[i] + (around[i] < SIZE_MAX); n++) {
                const char *want =
                    okosu_copy_chosen(r < OKOSU_COPY_USES ? r : OKOSU_COPY_ANY, n)->about.name;
                served = "nothing";
                enter(r, n);
                if (strncmp(served, want, strlen(want)) ||
                    !strstr(served, "move") != (r != OKOSU_COPY_ROUTE_MOVE))
                    return printf("route %zu, %zu bytes: %s for %s\n", r, n, served, want), 1;
                if (n == SIZE_MAX)
                    break;
            }
    return 0;
}
