/* SPDX-License-Identifier: Apache-2.0 */
/* NaN, infinities, denormals, signed zeros and strides, for one element type (T, R(), MATH(), MAX,
 * DENORMAL, VALUES and STRIDES are its names). */
#include "vec_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 200

static T *x, *y, *z, *expected;
static struct vec_guarded around_x, around_y;

/* Equal bits, or both NaN: which NaN comes out is unspecified. */
static bool alike(T a, T b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(T)) == 0;
}

static void expect(const char *routine, T got, T wanted)
{
    vec_now.routine = routine;
    if (!alike(got, wanted))
        vec_fail("%.17g, not %.17g", (double)got, (double)wanted);
}

static void small_integers(T *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int value = (int)(vec_random() % 15) + 1;

        to[i] = (T)(vec_random() % 2 ? value : -value);
    }
}

#define AS_REF(routine, ...)                                                                       \
    expect(TEXT(R(routine)), row->R(routine)(__VA_ARGS__), ref->R(routine)(__VA_ARGS__))

/* `row` against the plain loops on the same x, y: where no sum is rounded and each product rounds
 * to itself, the order and fusing make no difference. */
static void compare_all(const struct okosu_vec_variant *row, const struct okosu_vec_variant *ref,
                        T a, size_t n)
{
    vec_now.n = n;
    AS_REF(sum, x, n);
    AS_REF(sumsq, x, n);
    AS_REF(asum, x, n);
    AS_REF(nrm2, x, n);
    AS_REF(dot, x, y, n);
    AS_REF(dot, y, x, n);
    memcpy(z, y, n * sizeof(T));
    memcpy(expected, y, n * sizeof(T));
    row->R(axpy)(a, x, z, n);
    ref->R(axpy)(a, x, expected, n);
    for (size_t i = 0; i < n; i++)
        expect(TEXT(R(axpy)), z[i], expected[i]);
    row->R(triad)(a, y, x, z, n);
    for (size_t i = 0; i < n; i++)
        expect(TEXT(R(triad)), z[i], expected[i]);
    memcpy(z, x, n * sizeof(T));
    memcpy(expected, x, n * sizeof(T));
    row->R(scal)(a, z, n);
    ref->R(scal)(a, expected, n);
    for (size_t i = 0; i < n; i++)
        expect(TEXT(R(scal)), z[i], expected[i]);
}

static const struct okosu_vec_variant *reference(void)
{
    const struct okosu_vec_variant *const *table = okosu_vec_table();

    while (table[1])
        table++;
    return *table;
}

static void make_arrays(void)
{
    T **const arrays[] = {&x, &y, &z, &expected};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++)
        if (*arrays[i] == NULL && (*arrays[i] = calloc(MOST, sizeof(T))) == NULL)
            vec_fail("no memory");
}

/* One special value at each place of a vector of each size, and a second one of another kind. */
static void check_specials(const struct okosu_vec_variant *row, const struct okosu_vec_variant *ref)
{
    /* Only one element is near the overflow: with two, orders and fusing may differ. */
    const T specials[] = {NAN, INFINITY, -INFINITY, DENORMAL, -DENORMAL, -(T)0, 0, MAX, -MAX};
    const size_t kinds = sizeof(specials) / sizeof(*specials);

    for (size_t n = 1; n < MOST; n += n < 36 ? 1 : 41)
        for (size_t place = 0; place < n; place++)
            for (size_t k = 0; k < kinds; k++) {
                size_t second = (size_t)vec_random() % n;

                /* Positive: a tiny element is lost in the others' sum in any order. */
                small_integers(x, n);
                small_integers(y, n);
                for (size_t i = 0; i < n; i++) {
                    x[i] = x[i] < 0 ? -x[i] : x[i];
                    y[i] = y[i] < 0 ? -y[i] : y[i];
                }
                x[place] = specials[k];
                vec_now.layout = "with a special element";
                compare_all(row, ref, 2, n);
                if (k == 0 || k >= kinds - 2 || place % 4)
                    continue;
                /* inf - inf, inf * 0, inf + NaN. */
                y[second] = specials[(k + place / 4) % (kinds - 2)];
                compare_all(row, ref, specials[(place + 1) % (kinds - 2)], n);
                if (isnan(y[second]) || isinf(y[second]))
                    x[second] = y[second];
                vec_now.layout = "with two special elements";
                compare_all(row, ref, -1, n);
            }
}

static void check_tiny(const struct okosu_vec_variant *row, const struct okosu_vec_variant *ref)
{
    const T all[] = {-(T)0, 0, DENORMAL, -DENORMAL};

    for (size_t n = 0; n < MOST; n++) {
        for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++) {
            for (size_t i = 0; i < n; i++)
                x[i] = y[i] = all[k];
            vec_now.layout = "of one tiny value";
            compare_all(row, ref, -1, n);
            if (k < 2 && (signbit(row->R(sum)(x, n)) || signbit(row->R(dot)(x, y, n))))
                vec_fail("a sum of zeros is -0");
        }
        small_integers(x, n);
        for (size_t i = 0; i < n; i++)
            x[i] *= DENORMAL;
        vec_now.layout = "of denormals";
        expect(TEXT(R(sum)), row->R(sum)(x, n), ref->R(sum)(x, n));
        expect(TEXT(R(asum)), row->R(asum)(x, n), ref->R(asum)(x, n));
        expect(TEXT(R(nrm2)), row->R(nrm2)(x, n), ref->R(nrm2)(x, n));
    }
}

void VALUES(const struct okosu_vec_variant *row)
{
    const struct okosu_vec_variant *ref = reference();

    make_arrays();
    vec_now = (struct vec_context){.row = row->about.name};
    check_specials(row, ref);
    check_tiny(row, ref);
}

static size_t span(size_t n, ptrdiff_t inc)
{
    return n ? (n - 1) * (size_t)labs(inc) + 1 : 0;
}

/* Element i of a BLAS vector whose span begins at `first`. */
static size_t element(size_t n, ptrdiff_t inc, size_t i)
{
    return inc < 0 ? (n - 1 - i) * (size_t)-inc : i * (size_t)inc;
}

/* Both spans touch a guard page, in front or behind; integers, so that the oracle is exact. */
static void check_stride(const struct okosu_vec_variant *row, size_t n, ptrdiff_t incx,
                         ptrdiff_t incy, bool end)
{
    enum { ROOM = VEC_BODY / sizeof(T) };
    static T values[ROOM], wanted[ROOM];
    size_t nx = span(n, incx), ny = span(n, incy);
    T *const first_x = end ? (T *)(around_x.body + VEC_BODY) - nx : (T *)around_x.body;
    T *const first_y = end ? (T *)(around_y.body + VEC_BODY) - ny : (T *)around_y.body;
    int64_t dot = 0;

    vec_now.n = n;
    vec_now.x_shift = (int)incx;
    vec_now.y_shift = (int)incy;
    vec_now.layout = end ? "strides, before a guard page" : "strides, after a guard page";
    vec_guarded_clear(&around_x);
    vec_guarded_clear(&around_y);
    small_integers(values, n);
    for (size_t i = 0; i < n; i++)
        vec_guarded_put(&around_x, (unsigned char *)(first_x + element(n, incx, i)), &values[i],
                        sizeof(T));
    small_integers(values, n);
    for (size_t i = 0; i < n; i++)
        vec_guarded_put(&around_y, (unsigned char *)(first_y + element(n, incy, i)), &values[i],
                        sizeof(T));
    memcpy(wanted, first_y, ny * sizeof(T));
    for (size_t i = 0; i < n; i++) {
        T xi = first_x[element(n, incx, i)];

        dot += (int64_t)xi * (int64_t)first_y[element(n, incy, i)];
        wanted[element(n, incy, i)] += 3 * xi;
    }
    vec_now.routine = TEXT(R(dot_strided));
    expect(TEXT(R(dot_strided)), row->R(dot_strided)(n, first_x, incx, first_y, incy), (T)dot);
    vec_now.routine = TEXT(R(axpy_strided));
    row->R(axpy_strided)(n, 3, first_x, incx, first_y, incy);
    vec_guarded_compare(&around_y, (unsigned char *)first_y, wanted, ny * sizeof(T));
    vec_guarded_compare(&around_x, (unsigned char *)first_x, NULL, nx * sizeof(T));
}

void STRIDES(const struct okosu_vec_variant *row)
{
    static const ptrdiff_t increments[] = {1, -1, 0, 2, -2, 3, -3, 4, 5, -8, 17};
    const size_t count = sizeof(increments) / sizeof(*increments);

    if (around_x.body == NULL) {
        around_x = vec_guarded_new();
        around_y = vec_guarded_new();
    }
    vec_now = (struct vec_context){.row = row->about.name};
    for (size_t n = 0; n <= 58; n++)
        for (size_t i = 0; i < count * count; i++) {
            check_stride(row, n, increments[i / count], increments[i % count], false);
            check_stride(row, n, increments[i / count], increments[i % count], true);
        }
}
