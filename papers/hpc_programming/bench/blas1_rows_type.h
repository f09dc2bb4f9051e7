/* SPDX-License-Identifier: Apache-2.0 */
/* blas1, calls of one type of element: blas1_rows.c defines it as REAL, FACTOR(o) as the factor of
 * the updates, and P(name) as what functions and tables are called. */

/*
 * Three forms of each call, and for each the two ways of calling it over and over. In CALL, `f` is
 * the routine, x, y and z the operands of this call and o the rest.
 */
#define RUNNERS(NAME, TYPE, CALL)                                                                  \
    static double P(once_##NAME)(blas1_any * routine, const struct blas1_operands *o, void *x,     \
                                 void *y, void *z)                                                 \
    {                                                                                              \
        P(TYPE) *f = (P(TYPE) *)routine;                                                           \
                                                                                                   \
        return CALL;                                                                               \
    }                                                                                              \
    static void P(run_##NAME)(void *arg, size_t calls)                                             \
    {                                                                                              \
        const struct blas1_operands o = *((struct blas1_arg *)arg)->operands;                      \
        blas1_any *routine = ((struct blas1_arg *)arg)->routine;                                   \
        REAL *y = o.y, *z = o.z;                                                                   \
                                                                                                   \
        for (size_t i = 0; i < calls; i++) {                                                       \
            size_t shift = (i & o.mask) * o.stride;                                                \
                                                                                                   \
            bench_keep(P(once_##NAME)(routine, &o, o.x, y + shift, z + shift));                    \
        }                                                                                          \
    }                                                                                              \
    static void P(wait_##NAME)(void *arg, size_t calls)                                            \
    {                                                                                              \
        const struct blas1_operands o = *((struct blas1_arg *)arg)->operands;                      \
        blas1_any *routine = ((struct blas1_arg *)arg)->routine;                                   \
        void *x = o.x;                                                                             \
                                                                                                   \
        for (size_t i = 0; i < calls; i++)                                                         \
            x = blas1_after(P(once_##NAME)(routine, &o, x, o.y, o.z), o.x, o.zero);                \
        bench_keep_memory(x);                                                                      \
    }

typedef REAL P(reduce_plain)(const REAL *, size_t);
typedef REAL P(reduce_32)(int32_t, const REAL *, int32_t);
typedef REAL P(reduce_64)(int64_t, const REAL *, int64_t);
typedef REAL P(dot_plain)(const REAL *, const REAL *, size_t);
typedef REAL P(dot_32)(int32_t, const REAL *, int32_t, const REAL *, int32_t);
typedef REAL P(dot_64)(int64_t, const REAL *, int64_t, const REAL *, int64_t);
typedef void P(axpy_plain)(REAL, const REAL *, REAL *, size_t);
typedef void P(axpy_32)(int32_t, REAL, const REAL *, int32_t, REAL *, int32_t);
typedef void P(axpy_64)(int64_t, REAL, const REAL *, int64_t, REAL *, int64_t);
typedef void P(scal_plain)(REAL, REAL *, size_t);
typedef void P(scal_32)(int32_t, REAL, REAL *, int32_t);
typedef void P(scal_64)(int64_t, REAL, REAL *, int64_t);
typedef void P(triad_plain)(REAL, const REAL *, const REAL *, REAL *, size_t);

RUNNERS(reduce_plain, reduce_plain, f(x, o->n))
RUNNERS(reduce_32, reduce_32, f((int32_t)o->n, x, 1))
RUNNERS(reduce_64, reduce_64, f((int64_t)o->n, x, 1))
RUNNERS(square_32, dot_32, f((int32_t)o->n, x, 1, x, 1))
RUNNERS(square_64, dot_64, f((int64_t)o->n, x, 1, x, 1))
RUNNERS(dot_plain, dot_plain, f(x, o->y, o->n))
RUNNERS(dot_32, dot_32, f((int32_t)o->n, x, 1, o->y, 1))
RUNNERS(dot_64, dot_64, f((int64_t)o->n, x, 1, o->y, 1))
RUNNERS(axpy_plain, axpy_plain, (f(FACTOR(o), x, y, o->n), 0))
RUNNERS(axpy_32, axpy_32, (f((int32_t)o->n, FACTOR(o), x, 1, y, 1), 0))
RUNNERS(axpy_64, axpy_64, (f((int64_t)o->n, FACTOR(o), x, 1, y, 1), 0))
RUNNERS(scal_plain, scal_plain, (f(FACTOR(o), y, o->n), 0))
RUNNERS(scal_32, scal_32, (f((int32_t)o->n, FACTOR(o), y, 1), 0))
RUNNERS(scal_64, scal_64, (f((int64_t)o->n, FACTOR(o), y, 1), 0))
RUNNERS(triad_plain, triad_plain, (f(FACTOR(o), x, o->y, z, o->n), 0))

#define ENTRY(NAME)                                                                                \
    {                                                                                              \
        P(once_##NAME), P(run_##NAME), P(wait_##NAME)                                              \
    }
#define THREE(NAME)                                                                                \
    {                                                                                              \
        ENTRY(NAME##_plain), ENTRY(NAME##_32), ENTRY(NAME##_64)                                    \
    }

static const struct runners P(runners)[BLAS1_DTRIAD + 1][3] = {
    [BLAS1_DSUM] = THREE(reduce),
    [BLAS1_DSUMSQ] = {ENTRY(reduce_plain), ENTRY(square_32), ENTRY(square_64)},
    [BLAS1_DASUM] = THREE(reduce),
    [BLAS1_DNRM2] = THREE(reduce),
    [BLAS1_DDOT] = THREE(dot),
    [BLAS1_DAXPY] = THREE(axpy),
    [BLAS1_DSCAL] = THREE(scal),
    [BLAS1_DTRIAD] = {ENTRY(triad_plain)},
};

#undef RUNNERS
#undef ENTRY
#undef THREE
#undef REAL
#undef FACTOR
#undef P
