/* SPDX-License-Identifier: Apache-2.0 */
/* routine_check: the checks of one routine on memory of which every byte is compared. */
#include "memory_check.h"
#include "routine_check.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

void *call(const struct subject *subject, void *dst, const void *src, int byte, size_t n)
{
    return subject->copy ? subject->copy(dst, src, n) : subject->set(dst, byte, n);
}

void call_bytes(const struct subject *subject, unsigned char *dst, const unsigned char *src,
                int byte, size_t n)
{
    volatile unsigned char *to = dst;

    if (!subject->copy)
        for (size_t i = 0; i < n; i++)
            to[i] = subject->zero_only ? 0 : (unsigned char)byte;
    else if (dst < src)
        for (size_t i = 0; i < n; i++)
            to[i] = src[i];
    else
        while (n--)
            to[n] = src[n];
}

/* Whether count bytes from p are all `byte`: by words, from a copy of the byte, not by memcmp with
 * a neighbour, which would not see that the first is wrong too. */
bool all_are(const unsigned char *p, size_t count, int byte)
{
    uint64_t want = UINT64_C(0x0101010101010101) * (unsigned char)byte, word, differ = 0;
    size_t i = 0;

    for (; i + 8 <= count; i += 8) {
        memcpy(&word, p + i, 8);
        differ |= word ^ want;
    }
    for (; i < count; i++)
        differ |= (uint64_t)(p[i] ^ (unsigned char)byte);
    return !differ;
}

bool is_due(void)
{
    static size_t step, cases;

    if (!step) {
        const char *said = getenv("OKOSU_CHECK_STEP");

        step = said ? strtoul(said, NULL, 10) : 1;
        step += !step;
    }
    return cases++ % step == 0;
}

/* Memory for calls of at most `most` bytes: `got` holds the canaries of `want` before each. */
struct arena {
    unsigned char *got, *want, *src;
};

static bool arena_make(struct arena *arena, size_t most)
{
    size_t room = (most + 2 * MARGIN + PAGE) / PAGE * PAGE + PAGE;

    *arena = (struct arena){aligned_alloc(PAGE, room), aligned_alloc(PAGE, room),
                            aligned_alloc(PAGE, room)};
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

#if defined(__x86_64__)
static bool upper_halves_in_use(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    return low & 4;
}

/* Some emulators have the instruction, and always say the same. GCC cleans the upper halves from -O2 on,
 * which a build with the compiler's checks is not. */
static bool is_told(void)
{
    unsigned a, b, c, d;
    bool used;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#endif
    if (!__get_cpuid_count(1, 0, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX) ||
        !__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 4))
        return false;
    __asm__ volatile("vcmptrueps %%ymm0, %%ymm0, %%ymm0" : : : "xmm0");
    used = upper_halves_in_use();
    __asm__ volatile("vzeroupper");
    return used && !upper_halves_in_use();
}
#endif

bool tells_upper_halves(void)
{
#if defined(__x86_64__)
    static int tells = -1;

    if (tells < 0)
        tells = is_told();
    return tells;
#else
    return false;
#endif
}

static void clean_upper_halves(void)
{
#if defined(__x86_64__)
    if (tells_upper_halves())
        __asm__ volatile("vzeroupper");
#endif
}

static bool upper_halves_are_clean(void)
{
#if defined(__x86_64__)
    return !tells_upper_halves() || !upper_halves_in_use();
#else
    return true;
#endif
}

/* One call on n bytes, `to` and `from` bytes from a line, between canaries. */
static bool one_call(const struct subject *subject, struct arena *arena, size_t to, size_t from,
                     int byte, size_t n)
{
    size_t first = MARGIN + to, end = first + n;
    unsigned char *got = arena->got, *want = arena->want;
    const unsigned char *src = arena->src + MARGIN + from;

    clean_upper_halves();
    void *back = call(subject, got + first, src, byte, n);

    if (!upper_halves_are_clean()) {
        printf("%s(n %zu) leaves upper halves of registers in use\n", subject->name, n);
        return false;
    }
    bool right = back == got + first && memcmp(got, want, first) == 0 &&
                 memcmp(got + end, want + end, MARGIN) == 0 &&
                 (subject->copy ? memcmp(got + first, src, n) == 0
                                : all_are(got + first, n, subject->zero_only ? 0 : byte));

    if (!right) {
        call_bytes(subject, want + first, src, byte, n);
        printf("%s(to %zu, from %zu, byte %d, n %zu): ", subject->name, to, from, byte, n);
        tell_difference(got, want, end + MARGIN, first);
        return false;
    }
    memcpy(got + first, want + first, n);
    return true;
}

/* Sizes 0 to 1025, which the entries copy without a loop but for the last, at every byte of a line of
 * each operand, the other one's going along with it. */
bool check_offsets(const struct subject *subject)
{
    enum { LONGEST = 1025 };
    struct arena arena;
    bool right = arena_make(&arena, LONGEST + LINE);

    for (size_t n = 0; right && n <= LONGEST; n++)
        for (size_t at = 0; right && at < LINE; at++) {
            int byte = (int)(n + at) & 255;

            if (!is_due())
                continue;
            right = one_call(subject, &arena, at, (at * 5 + n * 7) % LINE, byte, n);
            if (right && subject->copy)
                right = one_call(subject, &arena, (at * 11 + n * 3) % LINE, at, byte, n);
        }
    arena_drop(&arena);
    return right;
}

/* Of a copy: every pair of offsets, for sizes on both sides of those at which vectors end. */
bool check_pairs(const struct subject *subject)
{
    static const size_t sizes[] = {1, 3, 8, 16, 31, 33, 64, 65, 129, 257, 513, 700};
    struct arena arena;
    bool right = arena_make(&arena, 700 + LINE);

    for (size_t s = 0; right && s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (size_t to = 0; right && to < LINE; to++)
            for (size_t from = 0; right && from < LINE; from++)
                right = !is_due() || one_call(subject, &arena, to, from, 0, sizes[s]);
    arena_drop(&arena);
    return right;
}

/* Of a set: every value of a byte, and ints of which only the low byte counts. */
bool check_bytes(const struct subject *subject)
{
    static const size_t sizes[] = {1, 3, 9, 17, 33, 65, 130, 300, 600, 2100, 5000};
    static const int odd[] = {-1, -128, 256, 256 + 7, 0x12345600, INT_MAX, INT_MIN};
    struct arena arena;
    bool right = arena_make(&arena, 5000 + LINE);

    for (size_t s = 0; right && s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        for (int byte = 0; right && byte < 256; byte++)
            right = !is_due() || one_call(subject, &arena, 5, 0, byte, sizes[s]);
        for (size_t i = 0; right && i < sizeof(odd) / sizeof(odd[0]); i++)
            right = one_call(subject, &arena, 7, 0, odd[i], sizes[s]);
    }
    arena_drop(&arena);
    return right;
}

/* Sizes round which some routine or the choice changes its way, the largest last. */
enum { THRESHOLDS = 80 };

static size_t thresholds(size_t sizes[THRESHOLDS])
{
    static const size_t always[] = {512,    513,     768,     1024,   2048,   4096,
                                    8192,   16384,   32768,   65536,  131072, 262144,
                                    524288, 3 << 18, 1 << 20, 3 << 20};
    struct okosu_sizeclass classes[OKOSU_CHOOSE_CLASSES];
    size_t count = sizeof(always) / sizeof(always[0]);

    memcpy(sizes, always, sizeof(always));
    for (size_t use = 0; area.uses[use]; use++) {
        size_t found = area.choice(use, classes);

        for (size_t i = 0; i < found && count < THRESHOLDS; i++)
            if (classes[i].up_to < 64 << 20)
                sizes[count++] = classes[i].up_to;
    }
    for (size_t i = 0; i + 1 < count; i++)
        if (sizes[i] > sizes[count - 1]) {
            size_t other = sizes[i];
            sizes[i] = sizes[count - 1];
            sizes[count - 1] = other;
        }
    return count;
}

/* Round each of those sizes, at offsets within a line and at distances of a copy's operands that are
 * almost a whole number of pages. */
bool check_thresholds(const struct subject *subject)
{
    static const size_t places[][2] = {{0, 0},      {1, 0},         {8, 1},   {24, 8},  {63, 63},
                                       {31, 7},     {64, 0},        {511, 0}, {512, 0}, {0, 64},
                                       {700, 1000}, {PAGE - 65, 3}, {2048, 0}};
    enum { PLACES = sizeof(places) / sizeof(places[0]) };
    size_t sizes[THRESHOLDS], count = thresholds(sizes);
    /* It takes long to fill, and every call that is right leaves it as it was. */
    static struct arena arena;
    static size_t most;
    bool right = true;

    if (most < sizes[count - 1]) {
        arena_drop(&arena);
        most = sizes[count - 1];
        right = arena_make(&arena, most + 2 * PAGE);
    }

    for (size_t s = 0; right && s < count; s++)
        for (size_t p = 0; right && p < PLACES; p++) {
            /* The largest take long to compare: three places each, where all cases are due. */
            if (sizes[s] > 100000 && (p % 4 != s % 4 || !is_due()))
                continue;
            for (int more = -1; right && more <= 1; more++)
                right = one_call(subject, &arena, places[p][0], places[p][1], (more * 77) & 255,
                                 sizes[s] + (size_t)more);
        }
    if (!right)
        most = 0;
    return right;
}

/* Both ranges end or begin at a page that is not there: one byte too many ends the program. */
bool check_guards(const struct subject *subject)
{
    enum { INNER = 4 * PAGE };
    static unsigned char want[INNER];
    struct guarded to, from;
    bool right = guarded_make(&to, INNER) && guarded_make(&from, INNER);

    if (!right)
        return false;
    for (size_t i = 0; i < INNER; i++)
        from.first[i] = pattern(i);
    for (size_t n = 0; right && n <= INNER; n += n < 1200 ? 1 : 487)
        for (int ends = 0; right && ends < (subject->copy ? 4 : 2); ends++) {
            if (!is_due())
                continue;
            unsigned char *dst = ends & 1 ? to.end - n : to.first;
            const unsigned char *src = ends & 2 ? from.end - n : from.first;

            memset(to.first, 0x33, INNER);
            memset(want, 0x33, INNER);
            call_bytes(subject, want + (dst - to.first), src, 0, n);
            right = call(subject, dst, src, 0, n) == dst && memcmp(to.first, want, INNER) == 0;
            if (!right)
                printf("%s(n %zu) beside pages that are not there\n", subject->name, n);
        }
    guarded_drop(&to);
    guarded_drop(&from);
    return right;
}
