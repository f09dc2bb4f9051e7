// SPDX-License-Identifier: Apache-2.0
// memcpy() and memset() of the series um-rep-movs in user space, the objects of arch/x86/lib behind
// them.
//
//     rep_movs          checks them as on a host with every feature and on one with none, and
//                       prints "HOST: copy from N, set from N", the lengths from which they are
//                       string instructions ("never" where they are not)
//     rep_movs SIZE...  prints "copy|set SIZE FROM TO LOOP STRING CHOSEN": TSC ticks of one call of
//                       the loop, of the string instruction, and of what the series chooses, for
//                       blocks that begin FROM and TO bytes behind a page's start

#include <string.h>
#include <x86intrin.h>

#include "copy_check.h"

enum {
    rounds = 60,
    calls = 200,
    magic = 0x5a5a5a5a,
};

extern copy_fn __memcpy;
extern set_fn __memset;

// What the kernel knows of its host. The tests of the series on a real kernel are what tells whether
// its bits are looked at in the right place.
uint8_t boot_cpu_data[page];

// Where the lengths begin of which all are a string instruction, SIZE_MAX if there are none; fails
// if any between them is not.
static size_t begins(const char *name, int (*is_string)(size_t, uint8_t *, uint8_t *),
                     uint8_t *from, uint8_t *to)
{
    size_t first = SIZE_MAX;

    doing = name;
    for (size_t len = 0; len <= area; len++) {
        int string = is_string(len, from, to);
        if (string && first == SIZE_MAX)
            first = len;
        if (!string && first != SIZE_MAX)
            fail("not a string instruction", len, first, 0);
    }
    return first;
}

// A string instruction leaves no count, which the loop of a copy never touches but with what it
// copied: nothing of that is 0. (%rcx)
static int copies_by_string(size_t len, uint8_t *from, uint8_t *to)
{
    uint8_t *end = to, *result;
    size_t count = magic;

    __asm__ volatile("call memcpy"
                     : "=a"(result), "+D"(end), "+S"(from), "+d"(len), "+c"(count)
                     :
                     : "r8", "r9", "r10", "r11", "memory", "cc");
    return !count;
}

// The loop keeps the destination in %r10.
static int sets_by_string(size_t len, uint8_t *from, uint8_t *to)
{
    register size_t kept __asm__("r10") = magic;
    uint8_t *end = to, *result;
    size_t byte = 0xa3;

    (void)from;
    __asm__ volatile("call memset"
                     : "=a"(result), "+D"(end), "+S"(byte), "+d"(len), "+r"(kept)
                     :
                     : "rcx", "r8", "r9", "r11", "memory", "cc");
    return kept == magic;
}

static void print_from(const char *what, size_t first)
{
    if (first == SIZE_MAX)
        printf("%s never", what);
    else
        printf("%s from %zu", what, first);
}

static void check_host(const char *host, uint8_t features, uint8_t *from, uint8_t *to)
{
    const struct routine r = {host, memcpy, memset};
    size_t copy, set;

    fill(boot_cpu_data, sizeof boot_cpu_data, features);
    everything(&r, from, to, 2200);
    fill(from, area, 0x77);
    copy = begins(host, copies_by_string, from, to);
    set = begins(host, sets_by_string, from, to);
    for (size_t i = 0; i < area; i++)
        from[i] = pattern(i);
    printf("%s:", host);
    print_from(" copy", copy);
    print_from(", set", set);
    printf("\n");
}

static uint64_t ticks(void)
{
    _mm_mfence();
    _mm_lfence();
    return __rdtsc();
}

static double copy_ticks(copy_fn *copy, uint8_t *to, const uint8_t *from, size_t len)
{
    uint64_t least = UINT64_MAX;

    for (int round = 0; round < rounds; round++) {
        uint64_t start = ticks();
        for (int i = 0; i < calls; i++)
            copy(to, from, len);
        uint64_t taken = ticks() - start;
        least = taken < least ? taken : least;
    }
    return (double)least / calls;
}

static double set_ticks(set_fn *set, uint8_t *to, size_t len)
{
    uint64_t least = UINT64_MAX;

    for (int round = 0; round < rounds; round++) {
        uint64_t start = ticks();
        for (int i = 0; i < calls; i++)
            set(to, 0xa3, len);
        uint64_t taken = ticks() - start;
        least = taken < least ? taken : least;
    }
    return (double)least / calls;
}

static void *movsb(void *to, const void *from, size_t len)
{
    void *end = to;

    __asm__ volatile("rep movsb" : "+D"(end), "+S"(from), "+c"(len) : : "memory");
    return to;
}

static void *stosb(void *to, int byte, size_t len)
{
    void *end = to;

    __asm__ volatile("rep stosb" : "+D"(end), "+c"(len) : "a"(byte) : "memory");
    return to;
}

static void print_times(size_t len, uint8_t *from, uint8_t *to)
{
    // A page's start, one odd place, one of other words; and the destination's lines just before,
    // just behind and far from the source's, modulo a page.
    static const size_t places[][2] = {{0, 0}, {1, 0},  {0, 1},  {8, 0},
                                       {0, 8}, {64, 0}, {0, 64}, {0, 2048}};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t f = places[i][0], t = places[i][1];
        printf("copy %zu %zu %zu %.1f %.1f %.1f\n", len, f, t,
               copy_ticks(__memcpy, to + t, from + f, len),
               copy_ticks(movsb, to + t, from + f, len), copy_ticks(memcpy, to + t, from + f, len));
        if (!f)
            printf("set %zu %zu %zu %.1f %.1f %.1f\n", len, f, t, set_ticks(__memset, to + t, len),
                   set_ticks(stosb, to + t, len), set_ticks(memset, to + t, len));
    }
}

int main(int argc, char **argv)
{
    uint8_t *from = guarded(), *to = guarded();

    catch_faults();
    for (size_t i = 0; i < area; i++)
        from[i] = pattern(i);
    if (argc < 2) {
        check_host("a host without features", 0, from, to);
        check_host("a host with every feature", 0xff, from, to);
        return 0;
    }
    fill(boot_cpu_data, sizeof boot_cpu_data, 0xff);
    fill(to, area, 0);
    for (int i = 1; i < argc; i++) {
        size_t len = strtoul(argv[i], NULL, 10);
        if (len > area - page) {
            fprintf(stderr, "%s: at most %d bytes\n", argv[i], area - page);
            return 2;
        }
        print_times(len, from, to);
    }
    return 0;
}
