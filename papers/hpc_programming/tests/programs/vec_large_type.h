/* SPDX-License-Identifier: Apache-2.0 */
/* One element type's part of vec_large.c: T, R(), LARGE and SQUARE_ROOT are its names. */

static void LARGE(const struct okosu_vec_variant *row)
{
    enum { EACH = CHUNK / sizeof(T), TAIL = 5, TIMES = CHUNKS - 1 };
    const size_t n = (size_t)TIMES * EACH + TAIL;
    static T a[EACH], b[EACH];
    T *const x = (T *)large_x, *const y = (T *)large_y;

    vec_now.n = n;
    for (size_t i = 0; i < EACH; i++) {
        a[i] = x[i] = (T)(int)(vec_random() % 7 + 1);
        b[i] = y[i] = (T)(int)(vec_random() % 7 + 1);
    }
    /* How often each element of memory is an element of the output; the first ones are so once
     * more. */
    vec_now.routine = "axpy";
    row->R(axpy)(1, x, y, n);
    for (size_t i = 0; i < EACH; i++)
        equal("axpy", (double)y[i], (double)(b[i] + a[i] * (T)(TIMES + (i < TAIL))));
    vec_now.routine = "triad";
    row->R(triad)(-1, y, x, y, n);
    for (size_t i = 0; i < EACH; i++)
        equal("triad", (double)y[i], (double)b[i]);
    vec_now.routine = "scal";
    row->R(scal)(-1, x, n);
    for (size_t i = 0; i < EACH; i++)
        equal("scal", (double)x[i], (double)(i < TAIL ? -a[i] : a[i]));

    /* Only few elements are not zero, the very last one among them, so that sums are exact in any
     * order. */
    memset(x, 0, CHUNK);
    x[EACH - 1] = -3;
    x[TAIL - 1] = 1;
    T dot = -3 * y[EACH - 1] * TIMES + y[TAIL - 1] * (TIMES + 1);
    equal("sum", (double)row->R(sum)(x, n), -3 * TIMES + TIMES + 1);
    equal("asum", (double)row->R(asum)(x, n), 3 * TIMES + TIMES + 1);
    equal("sumsq", (double)row->R(sumsq)(x, n), 9 * TIMES + TIMES + 1);
    equal("nrm2", (double)row->R(nrm2)(x, n), (double)SQUARE_ROOT((T)(9 * TIMES + TIMES + 1)));
    equal("dot", (double)row->R(dot)(x, y, n), (double)dot);
    equal("dot", (double)row->R(dot)(y, x, n), (double)dot);
    equal("dot_strided", (double)row->R(dot_strided)(n, x, -1, y, -1), (double)dot);
    /* Every other element: the last one of a chunk is not among them. */
    equal("dot_strided", (double)row->R(dot_strided)((n + 1) / 2, x, 2, y, 2),
          (double)(y[TAIL - 1] * (TIMES + 1)));
}
