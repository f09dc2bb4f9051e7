/* SPDX-License-Identifier: Apache-2.0 */
/* blas1, calls: every routine is called through a pointer, whoever made it, so that the call costs
 * all of them the same. */
#include "blas1.h"

#include <stdint.h>
#include <string.h>

/*
 * Three forms of each call, and for each the two ways of calling it over and over. In CALL, `f` is
 * the routine, x, y and z the operands of this call and o the rest.
 */
#define RUNNERS(NAME, TYPE, CALL)                                                                  \
    static double once_##NAME(blas1_any *routine, const struct blas1_operands *o, double *x,       \
                              double *y, double *z)                                                \
    {                                                                                              \
        TYPE f = (TYPE)routine;                                                                    \
                                                                                                   \
        return CALL;                                                                               \
    }                                                                                              \
    static void run_##NAME(void *arg, size_t calls)                                                \
    {                                                                                              \
        const struct blas1_operands o = *((struct blas1_arg *)arg)->operands;                      \
        blas1_any *routine = ((struct blas1_arg *)arg)->routine;                                   \
                                                                                                   \
        for (size_t i = 0; i < calls; i++) {                                                       \
            size_t shift = (i & o.mask) * o.stride;                                                \
                                                                                                   \
            bench_keep(once_##NAME(routine, &o, o.x, o.y + shift, o.z + shift));                   \
        }                                                                                          \
    }                                                                                              \
    static void wait_##NAME(void *arg, size_t calls)                                               \
    {                                                                                              \
        const struct blas1_operands o = *((struct blas1_arg *)arg)->operands;                      \
        blas1_any *routine = ((struct blas1_arg *)arg)->routine;                                   \
        double *x = o.x;                                                                           \
                                                                                                   \
        for (size_t i = 0; i < calls; i++)                                                         \
            x = blas1_after(once_##NAME(routine, &o, x, o.y, o.z), o.x, o.zero);                   \
        bench_keep_memory(x);                                                                      \
    }

typedef double reduce_plain(const double *, size_t);
typedef double reduce_32(int32_t, const double *, int32_t);
typedef double reduce_64(int64_t, const double *, int64_t);
typedef double dot_plain(const double *, const double *, size_t);
typedef double dot_32(int32_t, const double *, int32_t, const double *, int32_t);
typedef double dot_64(int64_t, const double *, int64_t, const double *, int64_t);
typedef void axpy_plain(double, const double *, double *, size_t);
typedef void axpy_32(int32_t, double, const double *, int32_t, double *, int32_t);
typedef void axpy_64(int64_t, double, const double *, int64_t, double *, int64_t);
typedef void scal_plain(double, double *, size_t);
typedef void scal_32(int32_t, double, double *, int32_t);
typedef void scal_64(int64_t, double, double *, int64_t);
typedef void triad_plain(double, const double *, const double *, double *, size_t);

RUNNERS(reduce_plain, reduce_plain *, f(x, o->n))
RUNNERS(reduce_32, reduce_32 *, f((int32_t)o->n, x, 1))
RUNNERS(reduce_64, reduce_64 *, f((int64_t)o->n, x, 1))
RUNNERS(square_32, dot_32 *, f((int32_t)o->n, x, 1, x, 1))
RUNNERS(square_64, dot_64 *, f((int64_t)o->n, x, 1, x, 1))
RUNNERS(dot_plain, dot_plain *, f(x, o->y, o->n))
RUNNERS(dot_32, dot_32 *, f((int32_t)o->n, x, 1, o->y, 1))
RUNNERS(dot_64, dot_64 *, f((int64_t)o->n, x, 1, o->y, 1))
RUNNERS(axpy_plain, axpy_plain *, (f(o->a, x, y, o->n), 0))
RUNNERS(axpy_32, axpy_32 *, (f((int32_t)o->n, o->a, x, 1, y, 1), 0))
RUNNERS(axpy_64, axpy_64 *, (f((int64_t)o->n, o->a, x, 1, y, 1), 0))
RUNNERS(scal_plain, scal_plain *, (f(o->a, y, o->n), 0))
RUNNERS(scal_32, scal_32 *, (f((int32_t)o->n, o->a, y, 1), 0))
RUNNERS(scal_64, scal_64 *, (f((int64_t)o->n, o->a, y, 1), 0))
RUNNERS(triad_plain, triad_plain *, (f(o->a, x, o->y, z, o->n), 0))

typedef double once_function(blas1_any *routine, const struct blas1_operands *o, double *x,
                             double *y, double *z);
typedef void run_function(void *arg, size_t calls);

struct runners {
    once_function *once;
    run_function *run, *wait;
};

#define ENTRY(NAME)                                                                                \
    {                                                                                              \
        once_##NAME, run_##NAME, wait_##NAME                                                       \
    }
#define NONE                                                                                       \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }

static const struct runners reduce[] = {ENTRY(reduce_plain), ENTRY(reduce_32), ENTRY(reduce_64)};
static const struct runners square[] = {ENTRY(reduce_plain), ENTRY(square_32), ENTRY(square_64)};
static const struct runners dot[] = {ENTRY(dot_plain), ENTRY(dot_32), ENTRY(dot_64)};
static const struct runners axpy[] = {ENTRY(axpy_plain), ENTRY(axpy_32), ENTRY(axpy_64)};
static const struct runners scal[] = {ENTRY(scal_plain), ENTRY(scal_32), ENTRY(scal_64)};
static const struct runners triad[] = {ENTRY(triad_plain), NONE, NONE};

static const struct runners *runners(enum blas1_routine routine,
                                     const struct blas1_library *library)
{
    static const struct runners *const all[BLAS1_ROUTINES] = {
        [BLAS1_DSUM] = reduce,  [BLAS1_DSUMSQ] = square, [BLAS1_DASUM] = reduce,
        [BLAS1_DNRM2] = reduce, [BLAS1_DDOT] = dot,      [BLAS1_DAXPY] = axpy,
        [BLAS1_DSCAL] = scal,   [BLAS1_DTRIAD] = triad,
    };

    return &all[routine][library->call];
}

void (*blas1_runner(enum blas1_routine routine, const struct blas1_library *library,
                    bool waiting))(void *arg, size_t calls)
{
    const struct runners *found = runners(routine, library);

    return waiting ? found->wait : found->run;
}

double blas1_call(enum blas1_routine routine, const struct blas1_library *library,
                  const struct blas1_operands *operands)
{
    return runners(routine, library)
        ->once(library->routines[routine], operands, operands->x, operands->y, operands->z);
}
