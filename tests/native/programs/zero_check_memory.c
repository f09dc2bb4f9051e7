/* SPDX-License-Identifier: Apache-2.0 */
/* zero_check: the checks of one routine. The oracle is a loop over bytes in memory of its own. */
#include "memory_check.h"
#include "zero_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The oracle; volatile, lest the compiler makes the routine under test of it. */
static void set_bytes(unsigned char *p, int byte, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile unsigned char *)p)[i] = (unsigned char)byte;
}

/*
 * One call on n bytes at `offset` from a line, between canaries. `got` and `want` hold the same
 * canaries before and after it.
 */
static bool one_call(const struct subject *subject, unsigned char *got, unsigned char *want,
                     size_t offset, size_t n, int byte)
{
    int wanted = subject->any_byte ? byte : 0;
    size_t first = MARGIN + offset, end = first + n, room = end + MARGIN;
    void *back = subject->set(got + first, byte, n);

    set_bytes(want + first, wanted, n);
    bool right = back == got + first && memcmp(got, want, room) == 0;
    if (!right) {
        printf("%s(offset %zu, byte %d, n %zu): ", subject->name, offset, byte, n);
        tell_difference(got, want, room, first);
    }
    put_canaries(got, first, end);
    put_canaries(want, first, end);
    return right;
}

struct arena {
    unsigned char *got, *want;
};

static bool arena_make(struct arena *arena, size_t most)
{
    size_t room = (most + 2 * MARGIN + 2 * LINE) / LINE * LINE;

    arena->got = aligned_alloc(LINE, room);
    arena->want = aligned_alloc(LINE, room);
    if (!arena->got || !arena->want)
        return false;
    put_canaries(arena->got, 0, room);
    put_canaries(arena->want, 0, room);
    return true;
}

static void arena_drop(struct arena *arena)
{
    free(arena->got);
    free(arena->want);
}

/* Sizes 0 to 512 at every byte of a line. */
bool check_offsets(const struct subject *subject)
{
    struct arena arena;
    bool right = arena_make(&arena, 512 + LINE);

    for (size_t n = 0; right && n <= 512; n++)
        for (size_t offset = 0; right && offset < LINE; offset++)
            right = one_call(subject, arena.got, arena.want, offset, n, (int)(n + offset) & 255);
    arena_drop(&arena);
    return right;
}

/* Every value of a byte, and ints of which only the low byte counts. */
bool check_bytes(const struct subject *subject)
{
    static const size_t sizes[] = {1, 3, 9, 17, 33, 65, 130, 300, 600, 2100, 5000};
    static const int odd[] = {-1, -128, 256, 256 + 7, 0x12345600, INT_MAX, INT_MIN};
    struct arena arena;
    bool right = arena_make(&arena, 5000 + LINE);

    for (size_t s = 0; right && s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (int byte = 0; right && byte < 256; byte++)
            right = one_call(subject, arena.got, arena.want, 5, sizes[s], byte);
        for (size_t i = 0; right && i < sizeof(odd) / sizeof(odd[0]); i++)
            right = one_call(subject, arena.got, arena.want, 7, sizes[s], odd[i]);
    }
    arena_drop(&arena);
    return right;
}

/* Round each size at which some variant or choice changes its way. */
bool check_thresholds(const struct subject *subject)
{
    static const size_t sizes[] = {512,   768,    1024,   2048,    4096,    8192,   16384,
                                   32768, 131072, 524288, 3 << 18, 1 << 20, 3 << 20};
    static const size_t offsets[] = {0, 1, 8, 31, 63};
    struct arena arena;
    bool right = arena_make(&arena, (3 << 20) + 2 * LINE);

    for (size_t s = 0; right && s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (size_t o = 0; right && o < sizeof(offsets) / sizeof(offsets[0]); o++) {
            /* The largest take long to compare: one offset each. */
            if (sizes[s] > 131072 && o != s % 5)
                continue;
            for (int more = -1; right && more <= 1; more++)
                right = one_call(subject, arena.got, arena.want, offsets[o],
                                 sizes[s] + (size_t)more, (more * 77) & 255);
        }
    arena_drop(&arena);
    return right;
}

/* Memory that ends or begins at a page that is not there: one byte too many is the end of us. */
bool check_guards(const struct subject *subject)
{
    enum { INNER = 4 * 4096 };
    struct guarded area;

    if (!guarded_make(&area, INNER))
        return false;
    unsigned char *first = area.first, *end = area.end;
    size_t inner = (size_t)(end - first);
    bool right = true;
    for (size_t n = 0; right && n <= inner; n += n < 1200 ? 1 : 509) {
        set_bytes(first, 0x33, inner);
        right = subject->set(end - n, 0, n) == end - n;
        for (size_t i = 0; right && i < inner; i++)
            right = first[i] == (i < inner - n ? 0x33 : 0);
        set_bytes(first, 0x33, inner);
        right = right && subject->set(first, 0, n) == first;
        for (size_t i = 0; right && i < inner; i++)
            right = first[i] == (i < n ? 0 : 0x33);
        if (!right)
            printf("%s(n %zu) beside a page that is not there\n", subject->name, n);
    }
    guarded_drop(&area);
    return right;
}
