/* SPDX-License-Identifier: Apache-2.0 */
/* One element type's part of vec_long.c: T, R(), LONG, SAME and SQUARE_ROOT are its names. */

static void LONG(const struct okosu_vec_variant *row, size_t n, size_t shift)
{
    /* Each ends `shift` elements before a guard page, y one more. */
    T *const x = (T *)(x_end)-n - shift, *const y = (T *)(y_end)-n - shift - 1;
    T *const z = (T *)(z_end)-n - shift;
    int64_t sum = 0, sumsq = 0, asum = 0, dot = 0;

    vec_now.n = n;
    vec_now.x_shift = (int)shift;
    for (size_t i = 0; i < n; i++) {
        uint64_t random = vec_random();
        int64_t a = (int64_t)(random % 9) - 4, b = (int64_t)(random / 9 % 9) - 4;

        x[i] = (T)a;
        y[i] = z[i] = (T)b;
        sum += a;
        sumsq += a * a;
        asum += a < 0 ? -a : a;
        dot += a * b;
    }
    y[n] = z[-1] = 77;
    equal("sum", (double)row->R(sum)(x, n), (double)sum);
    equal("sumsq", (double)row->R(sumsq)(x, n), (double)sumsq);
    equal("asum", (double)row->R(asum)(x, n), (double)asum);
    equal("nrm2", (double)row->R(nrm2)(x, n), (double)(T)SQUARE_ROOT((T)sumsq));
    equal("dot", (double)row->R(dot)(x, y, n), (double)dot);
    equal("dot_strided", (double)row->R(dot_strided)(n, x, 1, y, -1),
          (double)row->R(dot_strided)(n, y, 1, x, -1));
    vec_now.routine = "axpy";
    row->R(axpy)(-2, x, y, n);
    for (size_t i = 0; i < n; i++)
        equal("axpy", (double)y[i], (double)(z[i] - 2 * x[i]));
    vec_now.routine = "triad";
    row->R(triad)(2, y, x, z, n);
    row->R(triad)(3, z, y, y, n);
    for (size_t i = 0; i < n; i++)
        equal("triad", (double)y[i], (double)(4 * z[i] - 6 * x[i]));
    vec_now.routine = "scal";
    row->R(scal)(-1, z, n);
    row->R(axpy)(1, z, y, n);
    for (size_t i = 0; i < n; i++)
        equal("scal", (double)y[i], (double)(-3 * z[i] - 6 * x[i]));
    vec_now.routine = "some routine";
    if (y[n] != 77 || z[-1] != 77)
        vec_fail("an element beside the array changed");
}

/* No bit depends on the caches' size, by which the ways of loading are chosen. */
static void SAME(const struct okosu_vec_variant *row, size_t n, size_t shift)
{
    T *const x = (T *)(x_end)-n - shift, *const y = (T *)(y_end)-n - shift % 2;
    T *const z = (T *)(z_end)-n - shift % 2;
    const size_t here = okosu_vec_l1;
    double got[2][4];

    vec_now.n = n;
    vec_now.x_shift = (int)shift;
    for (size_t i = 0; i < n; i++) {
        x[i] = (T)(int64_t)vec_random() / (T)(1 << 30);
        y[i] = z[i] = (T)(int64_t)vec_random() / (T)(1 << 30);
    }
    for (size_t i = 0; i < 2; i++) {
        okosu_vec_l1 = i ? SIZE_MAX : 0;
        got[i][0] = (double)row->R(sum)(x, n);
        got[i][1] = (double)row->R(sumsq)(x, n);
        got[i][2] = (double)row->R(asum)(x, n);
        got[i][3] = (double)row->R(dot)(x, y, n);
    }
    row->R(axpy)(3, x, z, n);
    okosu_vec_l1 = 0;
    row->R(axpy)(3, x, y, n);
    okosu_vec_l1 = here;
    equal("sum", got[0][0], got[1][0]);
    equal("sumsq", got[0][1], got[1][1]);
    equal("asum", got[0][2], got[1][2]);
    equal("dot", got[0][3], got[1][3]);
    for (size_t i = 0; i < n; i++)
        equal("axpy", (double)y[i], (double)z[i]);
}
