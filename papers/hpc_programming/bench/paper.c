/* SPDX-License-Identifier: Apache-2.0 */
/* paper: the two loops of section 2 of the paper, each in a function, so that they can be timed
 * from outside; compiled once for each compiler and option, which come as COMPILER and OPTION. */
#include "paper.h"

#define N LATENCY_PASSES

#define JOIN3(a, b, c) a##b##_##c
#define ROW(compiler, option) JOIN3(latency_, compiler, option)
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

#ifdef __clang__
#define VERSION TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__)
#else
#define VERSION __VERSION__
#endif

static double ten_add(double a)
{
    unsigned long long i;

    // clang-format off
    for (i = 0; i < N; i++) {
        a = a + a; a = a + a; a = a + a; a = a + a; a = a + a;
        a = a + a; a = a + a; a = a + a; a = a + a; a = a + a;
    }
    // clang-format on
    return a;
}

static double ten_mul(double a)
{
    unsigned long long i;

    // clang-format off
    for (i = 0; i < N; i++) {
        a = a * a; a = a * a; a = a * a; a = a * a; a = a * a;
        a = a * a; a = a * a; a = a * a; a = a * a; a = a * a;
    }
    // clang-format on
    return a;
}

extern const struct latency_paper ROW(COMPILER, OPTION);

const struct latency_paper ROW(COMPILER, OPTION) = {
    .variant = TEXT(COMPILER) "-" TEXT(OPTION),
    .config = TEXT(COMPILER) " " VERSION " -" TEXT(OPTION),
    .add = ten_add,
    .mul = ten_mul,
};
