/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of vec_check over sizes and addresses for one element type: T, INTEGER (the largest
 * element with which 512 squares add up exactly), R() the routine's name, MATH() libm's. */
#include "vec_check.h"

#include <math.h>
#include <string.h>

#define MOST 512
#define SHIFTS ((int)(64 / sizeof(T))) /* addresses in a line at which an element may lie */

/* One set of operands, and what the routines must make of them. */
struct operands {
    bool exact; /* small integers: every sum is exact, in any order */
    T a, x[MOST], y[MOST];
    T sum, sumsq, asum, nrm2, dot;
    T axpy[MOST], triad[MOST], scal[MOST];
};

static struct vec_guarded in_x, in_y, out;

static bool same(T a, T b)
{
    return memcmp(&a, &b, sizeof(T)) == 0;
}

static void integers(struct operands *set)
{
    set->exact = true;
    set->a = 3;
    for (size_t i = 0; i < MOST; i++) {
        int64_t x = (int64_t)(vec_random() % INTEGER) + 1,
                y = (int64_t)(vec_random() % INTEGER) + 1;

        set->x[i] = (T)(vec_random() % 2 ? x : -x);
        set->y[i] = (T)(vec_random() % 2 ? y : -y);
    }
}

/* Over many orders of magnitude, so that a sum in another order is another number. */
static void reals(struct operands *set)
{
    set->exact = false;
    set->a = (T)1 / 3;
    for (size_t i = 0; i < MOST; i++) {
        int exponent = (int)(vec_random() % 40) - 20;

        set->x[i] = (T)ldexp((double)(int64_t)vec_random() / 0x1p63, exponent);
        set->y[i] = (T)ldexp((double)(int64_t)vec_random() / 0x1p63, exponent);
    }
}

/* The oracle is integer arithmetic; where the numbers are no integers it is the row's first answer
 * for reductions, whose bits must not depend on the address. */
static void expect_reductions(struct operands *set, const struct okosu_vec_variant *row, size_t n)
{
    int64_t sum = 0, sumsq = 0, asum = 0, dot = 0;

    if (!set->exact) {
        set->sum = row->R(sum)(set->x, n);
        set->sumsq = row->R(sumsq)(set->x, n);
        set->asum = row->R(asum)(set->x, n);
        set->nrm2 = row->R(nrm2)(set->x, n);
        set->dot = row->R(dot)(set->x, set->y, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t x = (int64_t)set->x[i], y = (int64_t)set->y[i];

        sum += x;
        sumsq += x * x;
        asum += x < 0 ? -x : x;
        dot += x * y;
    }
    set->sum = (T)sum;
    set->sumsq = (T)sumsq;
    set->asum = (T)asum;
    set->nrm2 = (T)sqrt((double)sumsq);
    set->dot = (T)dot;
}

/* Rounds twice even where the compiler may contract. */
static T twice(T a, T x, T y)
{
    volatile T product = a * x;

    return product + y;
}

/* a x + y with one rounding or two. */
static T updated(bool fused, T a, T x, T y)
{
    return fused ? MATH(fma)(a, x, y) : twice(a, x, y);
}

static void expect_elements(struct operands *set, bool fused)
{
    for (size_t i = 0; i < MOST; i++) {
        set->axpy[i] = updated(fused, set->a, set->x[i], set->y[i]);
        set->triad[i] = updated(fused, set->a, set->y[i], set->x[i]);
        set->scal[i] = set->a * set->x[i];
    }
}

/* axpy rounds alike whatever the increments. */
static void check_strided(const struct okosu_vec_variant *row, const struct operands *set)
{
    enum { COUNT = 40 };
    T got[3 * COUNT];

    vec_now.routine = TEXT(R(axpy_strided));
    vec_now.n = COUNT;
    memcpy(got, set->y, sizeof(got));
    row->R(axpy_strided)(COUNT, set->a, set->x, 2, got, 3);
    for (size_t i = 0; i < COUNT; i++) {
        T wanted = updated(vec_rounds_once(row), set->a, set->x[2 * i], set->y[3 * i]);

        if (!same(got[3 * i], wanted))
            vec_fail("element %zu is %.17g, not %.17g", i, (double)got[3 * i], (double)wanted);
    }
}

/* The array's start if it is to lie `shift` elements from a guard page. */
static T *at(const struct vec_guarded *memory, bool end, size_t n, int shift)
{
    T *first = (T *)memory->body, *last = (T *)(memory->body + VEC_BODY);

    return end ? last - n - shift : first + shift;
}

static void check_reduction(const char *name, T got, T expected)
{
    vec_now.routine = name;
    if (!same(got, expected))
        vec_fail("%.17g, not %.17g", (double)got, (double)expected);
}

#define REDUCTION(name, ...)                                                                       \
    do {                                                                                           \
        vec_now.routine = TEXT(R(name));                                                           \
        T got = row->R(name)(__VA_ARGS__, n);                                                      \
        check_reduction(TEXT(R(name)), got, set->name);                                            \
    } while (0)

static void check_pair(const struct okosu_vec_variant *row, const struct operands *set, size_t n,
                       const T *x, T *y, T *z)
{
    size_t bytes = n * sizeof(T);

    REDUCTION(dot, x, y);
    vec_now.routine = TEXT(R(triad));
    vec_guarded_put(&out, (unsigned char *)z, set->y, bytes);
    row->R(triad)(set->a, x, y, z, n);
    vec_guarded_compare(&out, (unsigned char *)z, set->triad, bytes);
    memset(out.image + ((unsigned char *)z - out.body), 0xff, bytes);
    memset(z, 0xff, bytes);
    vec_now.routine = TEXT(R(axpy));
    row->R(axpy)(set->a, x, y, n);
    vec_guarded_compare(&in_y, (unsigned char *)y, set->axpy, bytes);
}

static void check_single(const struct okosu_vec_variant *row, const struct operands *set, size_t n,
                         const T *x, T *z)
{
    size_t bytes = n * sizeof(T);

    REDUCTION(sum, x);
    REDUCTION(sumsq, x);
    REDUCTION(asum, x);
    REDUCTION(nrm2, x);
    vec_now.routine = TEXT(R(scal));
    vec_guarded_put(&out, (unsigned char *)z, set->x, bytes);
    row->R(scal)(set->a, z, n);
    vec_guarded_compare(&out, (unsigned char *)z, set->scal, bytes);
    vec_guarded_clear(&out);
}

/* All shifts of both operands from the guard page before them, or from the one after. */
static void check_shifts(const struct okosu_vec_variant *row, const struct operands *set, size_t n,
                         bool end, int step)
{
    size_t bytes = n * sizeof(T);

    vec_now.layout = end ? "before a guard page" : "after a guard page";
    for (int i = 0; i < SHIFTS; i += step) {
        T *x = at(&in_x, end, n, i);

        vec_now.x_shift = i;
        vec_guarded_clear(&in_x);
        vec_guarded_put(&in_x, (unsigned char *)x, set->x, bytes);
        check_single(row, set, n, x, at(&out, end, n, i));
        for (int j = 0; j < SHIFTS; j += step) {
            T *y = at(&in_y, end, n, j);

            vec_now.y_shift = j;
            vec_guarded_put(&in_y, (unsigned char *)y, set->y, bytes);
            check_pair(row, set, n, x, y, at(&out, end, n, (i + 3 * j + (int)n) % SHIFTS));
            memset(y, 0xff, bytes);
            memset(in_y.image + ((unsigned char *)y - in_y.body), 0xff, bytes);
        }
        vec_now.y_shift = 0;
        vec_now.routine = "some routine";
        vec_guarded_compare(&in_x, (unsigned char *)x, NULL, bytes);
    }
}

/* The output may be an input. */
static void check_in_place(const struct okosu_vec_variant *row, const struct operands *set,
                           size_t n)
{
    T expected[MOST + 1], z[MOST + 1];
    size_t bytes = n * sizeof(T);

    vec_now.layout = "in place";
    vec_now.routine = TEXT(R(triad));
    memcpy(z, set->x, bytes);
    row->R(triad)(set->a, z, set->y, z, n);
    if (memcmp(z, set->triad, bytes) != 0)
        vec_fail("wrong where out is b");
    memcpy(z, set->y, bytes);
    row->R(triad)(set->a, set->x, z, z, n);
    if (memcmp(z, set->triad, bytes) != 0)
        vec_fail("wrong where out is c");
    vec_now.routine = TEXT(R(axpy));
    memcpy(z, set->x, bytes);
    memcpy(expected, set->x, bytes);
    row->R(axpy)(set->a, set->x, expected, n);
    row->R(axpy)(set->a, z, z, n);
    if (memcmp(z, expected, bytes) != 0)
        vec_fail("wrong where y is x");
}

void WHOLE(const struct okosu_vec_variant *row, const struct vec_extent *extent)
{
    static struct operands set[2];

    if (in_x.body == NULL) {
        in_x = vec_guarded_new();
        in_y = vec_guarded_new();
        out = vec_guarded_new();
        integers(&set[0]);
        reals(&set[1]);
    }
    vec_now = (struct vec_context){.row = row->about.name};
    for (int k = 0; k < 2; k++) {
        expect_elements(&set[k], vec_rounds_once(row));
        check_strided(row, &set[k]);
    }
    for (size_t n = 0; n <= MOST; n += n < extent->all_sizes ? 1 : extent->sizes_step)
        for (int k = 0; k < 2; k++) {
            vec_now.n = n;
            vec_now.x_shift = vec_now.y_shift = 0;
            expect_reductions(&set[k], row, n);
            check_shifts(row, &set[k], n, false, extent->shifts_step);
            check_shifts(row, &set[k], n, true, extent->shifts_step);
            check_in_place(row, &set[k], n);
        }
}
