/* SPDX-License-Identifier: Apache-2.0 */
/* blas1, calls: every routine is called through a pointer, whoever made it, so that the call costs
 * all of them the same. */
#include "blas1.h"

#include <stdint.h>

typedef double once_function(blas1_any *routine, const struct blas1_operands *o, void *x, void *y,
                             void *z);
typedef void run_function(void *arg, size_t calls);

struct runners {
    once_function *once;
    run_function *run, *wait;
};

#define REAL double
#define FACTOR(o) (o)->a
#define P(name) d##name
#include "blas1_rows_type.h"

#define REAL float
#define FACTOR(o) (o)->float_a
#define P(name) s##name
#include "blas1_rows_type.h"

static const struct runners *runners(enum blas1_routine routine,
                                     const struct blas1_library *library)
{
    const struct runners(*all)[3] = blas1_is_float(routine) ? srunners : drunners;

    return &all[blas1_of_doubles(routine)][library->call];
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
