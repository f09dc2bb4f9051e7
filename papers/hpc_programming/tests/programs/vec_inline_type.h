/* SPDX-License-Identifier: Apache-2.0 */
/* One element type's part of vec_inline.c: T, RESULTS, ALL, OF_LENGTH, PLACED, INLINES and
 * ROUTINE() are its names. */

struct RESULTS {
    T sum, sumsq, dot;
};

/* Each routine once; `out` gets the triad, y an increment, z is multiplied. */
static inline __attribute__((always_inline)) struct RESULTS ALL(size_t n, T a, const T *x, T *y,
                                                                T *z, T *out) {
    struct RESULTS made = {ROUTINE(sum)(x, n), ROUTINE(sumsq)(x, n), ROUTINE(dot)(x, y, n)};

    ROUTINE(triad)(a, x, y, out, n);
    ROUTINE(axpy)(a, x, y, n);
    ROUTINE(scal)(a, z, n);
    return made;
}

#define LENGTH(n)                                                                                  \
    case n:                                                                                        \
        return ALL(n, a, x, y, z, out);

/* The length is a literal in each case. */
static __attribute__((noinline)) struct RESULTS
OF_LENGTH(size_t n, T a, const T *x, T *y, T *z, T *out) {
    switch (n) {
        LENGTHS
    default:
        return ALL(n, a, x, y, z, out);
    }
}

static T *
PLACED(const struct vec_guarded *memory, size_t n, bool end, size_t shift, const T *from)
{
    T *start = end ? (T *)(memory->body + VEC_BODY) - n - shift : (T *)memory->body + shift;

    vec_guarded_clear(memory);
    vec_guarded_put(memory, (unsigned char *)start, from, n * sizeof(T));
    return start;
}

static void INLINES(size_t n, bool end, size_t i, size_t j)
{
    T x[MOST], y[MOST], sums[MOST], triads[MOST], products[MOST], sum = 0, sumsq = 0, dot = 0;

    for (size_t k = 0; k < n; k++) {
        x[k] = (T)(int)(vec_random() % 15) - 7;
        y[k] = (T)(int)(vec_random() % 15) - 7;
        sum += x[k];
        sumsq += x[k] * x[k];
        dot += x[k] * y[k];
        sums[k] = y[k] + 3 * x[k];
        triads[k] = x[k] + 3 * y[k];
        products[k] = 3 * y[k];
    }
    T *at_x = PLACED(&memory_x, n, end, i, x), *at_y = PLACED(&memory_y, n, end, j, y);
    T *at_z = PLACED(&memory_z, n, end, j, y), *out = PLACED(&memory_out, n, end, i, y);
    struct RESULTS made = OF_LENGTH(n, 3, at_x, at_y, at_z, out);
    equal("sum", (double)made.sum, (double)sum);
    equal("sumsq", (double)made.sumsq, (double)sumsq);
    equal("dot", (double)made.dot, (double)dot);
    vec_now.routine = "axpy";
    vec_guarded_compare(&memory_y, (unsigned char *)at_y, sums, n * sizeof(T));
    vec_now.routine = "scal";
    vec_guarded_compare(&memory_z, (unsigned char *)at_z, products, n * sizeof(T));
    vec_now.routine = "triad";
    vec_guarded_compare(&memory_out, (unsigned char *)out, triads, n * sizeof(T));
    vec_guarded_compare(&memory_x, (unsigned char *)at_x, NULL, n * sizeof(T));
}
