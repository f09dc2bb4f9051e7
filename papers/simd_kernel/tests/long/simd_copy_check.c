/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the kernel's copy routines, from the kernel's own object file, in user space: at every short
 * size, offset and page end. Prints `NAME ok`, `NAME absent` or `NAME wrong` for each; exits with 1
 * if one is wrong, and is killed by a signal if one accesses memory beyond the areas. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, AREA = 4 * PAGE, SHORT = 1100 };

typedef void copy(void *dst, const void *src, size_t len);
copy copy_movsq, copy_movsb, copy_movnti, copy_paper, copy_sse2, copy_avx2, copy_avx512;

/* Map pages with unmapped ones before and behind them. */
static unsigned char *area(void)
{
    unsigned char *all = mmap(NULL, AREA + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED || mprotect(all + PAGE, AREA, PROT_READ | PROT_WRITE))
        exit(2);
    return all + PAGE;
}

static int right(copy *routine, unsigned char *whole, size_t to, const unsigned char *src,
                 size_t len)
{
    size_t before = to < 64 ? to : 64, after = AREA - to - len < 64 ? AREA - to - len : 64;

    memset(whole + to - before, 0xa5, before + len + after);
    routine(whole + to, src, len);
    if (memcmp(whole + to, src, len))
        return 0;
    for (size_t i = 0; i < before; i++)
        if (whole[to - before + i] != 0xa5)
            return 0;
    for (size_t i = 0; i < after; i++)
        if (whole[to + len + i] != 0xa5)
            return 0;
    return 1;
}

static int check(copy *routine, const unsigned char *src, unsigned char *dst)
{
    int good = 1;

    for (size_t len = 0; len <= AREA - 130; len += len < SHORT ? 1 : 37) {
        size_t step = len < SHORT ? 5 : 21;
        for (size_t from = 0; from < 66; from += step)
            for (size_t to = 0; to < 64; to += step)
                good &= right(routine, dst, to, src + from, len);
        good &= right(routine, dst, AREA - len, src + AREA - len, len);
        good &= right(routine, dst, 0, src + AREA - len, len);
        good &= right(routine, dst, AREA - len, src, len);
    }
    return good;
}

int main(void)
{
    const struct {
        const char *name;
        copy *routine;
        int valid;
    } table[] = {
        {"movsq", copy_movsq, 1},
        {"movsb", copy_movsb, 1},
        {"movnti", copy_movnti, 1},
        {"paper", copy_paper, 1},
        {"sse2", copy_sse2, 1},
        {"avx2", copy_avx2, __builtin_cpu_supports("avx2")},
        {"avx512", copy_avx512, __builtin_cpu_supports("avx512f")},
    };
    unsigned char *src = area(), *dst = area();
    int failed = 0;

    for (size_t i = 0; i < AREA; i++)
        src[i] = (unsigned char)(i * 167 + (i >> 8));
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int good = !table[i].valid || check(table[i].routine, src, dst);
        printf("%s %s\n", table[i].name, !table[i].valid ? "absent" : good ? "ok" : "wrong");
        failed |= !good;
    }
    return failed;
}
