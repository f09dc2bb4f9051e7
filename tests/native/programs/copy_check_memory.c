/* SPDX-License-Identifier: Apache-2.0 */
/* copy_check: the checks of one routine on ranges that do not overlap. */
#include <stdint.h>

#include "copy_check.h"
#include "memory_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

/* Memory for calls of at most `most` bytes: `got` and `want` hold the same canaries before and
 * after each. */
struct arena {
    unsigned char *got, *want, *src;
    size_t room;
};

static bool arena_make(struct arena *arena, size_t most)
{
    size_t room = (most + 2 * MARGIN + PAGE) / PAGE * PAGE + PAGE;

    *arena = (struct arena){aligned_alloc(PAGE, room), aligned_alloc(PAGE, room),
                            aligned_alloc(PAGE, room), room};
    if (!arena->got || !arena->want || !arena->src)
        return false;
    put_canaries(arena->got, 0, room);
    put_canaries(arena->want, 0, room);
    for (size_t i = 0; i < room; i++)
        arena->src[i] = pattern(i);
    return true;
}

static void arena_drop(struct arena *arena)
{
    free(arena->got);
    free(arena->want);
    free(arena->src);
}

/* One call on n bytes, so many bytes from a line, between canaries. */
static bool one_call(const struct subject *subject, struct arena *arena, size_t to, size_t from,
                     size_t n)
{
    size_t first = MARGIN + to, end = first + n, room = end + MARGIN;
    const unsigned char *src = arena->src + MARGIN + from;
    void *back = subject->copy(arena->got + first, src, n);

    copy_bytes(arena->want + first, src, n);
    bool right = back == arena->got + first && memcmp(arena->got, arena->want, room) == 0;
    if (!right) {
        printf("%s(to %zu, from %zu, n %zu): ", subject->name, to, from, n);
        tell_difference(arena->got, arena->want, room, first);
    }
    put_canaries(arena->got, first, end);
    put_canaries(arena->want, first, end);
    return right;
}

/* Sizes 0 to 512 at every byte of a line of each operand, the other one's going along with it. */
bool check_offsets(const struct subject *subject)
{
    struct arena arena;
    bool right = arena_make(&arena, 512 + LINE);

    for (size_t n = 0; right && n <= 512; n++)
        for (size_t at = 0; right && at < LINE; at++)
            right = one_call(subject, &arena, at, (at * 5 + n * 7) % LINE, n) &&
                    one_call(subject, &arena, (at * 11 + n * 3) % LINE, at, n);
    arena_drop(&arena);
    return right;
}

/* Every pair of offsets, for sizes on both sides of those at which vectors end. */
bool check_pairs(const struct subject *subject)
{
    static const size_t sizes[] = {1, 3, 8, 16, 31, 33, 64, 65, 129, 257, 513, 700};
    struct arena arena;
    bool right = arena_make(&arena, 700 + LINE);

    for (size_t s = 0; right && s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (size_t to = 0; right && to < LINE; to++)
            for (size_t from = 0; right && from < LINE; from++)
                right = one_call(subject, &arena, to, from, sizes[s]);
    arena_drop(&arena);
    return right;
}

/* Round each size at which some variant or the choice changes its way, at offsets within a line and
 * at distances that are almost a whole number of pages. */
bool check_thresholds(const struct subject *subject)
{
    static const size_t places[][2] = {{0, 0},      {1, 0},         {0, 1},   {24, 8},  {63, 63},
                                       {33, 7},     {64, 0},        {511, 0}, {512, 0}, {0, 64},
                                       {700, 1000}, {PAGE - 65, 3}, {2048, 0}};
    enum { PLACES = sizeof(places) / sizeof(places[0]) };
    size_t sizes[THRESHOLDS], count = thresholds(sizes);
    struct arena arena;
    bool right = arena_make(&arena, sizes[count - 1] + 2 * PAGE);

    for (size_t s = 0; right && s < count; s++)
        for (size_t p = 0; right && p < PLACES; p++) {
            /* The largest take long to compare: three places each. */
            if (sizes[s] > 100000 && p % 4 != s % 4)
                continue;
            for (int more = -1; right && more <= 1; more++)
                right =
                    one_call(subject, &arena, places[p][0], places[p][1], sizes[s] + (size_t)more);
        }
    arena_drop(&arena);
    return right;
}

/* Both ranges end or begin at a page that is not there: one byte too many is the end of us. */
bool check_guards(const struct subject *subject)
{
    enum { INNER = 4 * PAGE };
    struct guarded to, from;
    bool right = guarded_make(&to, INNER) && guarded_make(&from, INNER);

    if (!right)
        return false;
    for (size_t i = 0; i < INNER; i++)
        from.first[i] = pattern(i);
    for (size_t n = 0; right && n <= INNER; n += n < 1200 ? 1 : 487)
        for (int ends = 0; right && ends < 4; ends++) {
            unsigned char *dst = ends & 1 ? to.end - n : to.first;
            const unsigned char *src = ends & 2 ? from.end - n : from.first;
            memset(dst, 0x33, n);
            right = subject->copy(dst, src, n) == dst && memcmp(dst, src, n) == 0;
            if (!right)
                printf("%s(n %zu) beside pages that are not there\n", subject->name, n);
        }
    guarded_drop(&to);
    guarded_drop(&from);
    return right;
}

/* Nothing, from and to wherever it may be. */
bool check_nothing(const struct subject *subject)
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
