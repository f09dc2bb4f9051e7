/* SPDX-License-Identifier: Apache-2.0 */
/* vec_check's longer arrays: loops that run many times, and those that fetch ahead beyond the L2
 * cache. Small integers, so that the oracle is exact. */
#include "vec/common.h"
#include "vec_check.h"

#include <math.h>
#include <sys/mman.h>

#define LENGTH ((size_t)4 << 20)
#define GUARD ((size_t)64 << 10) /* the largest page there is */

static unsigned char *x_end, *y_end, *z_end;

static unsigned char *guarded_end(void)
{
    unsigned char *all =
        mmap(NULL, LENGTH + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED ||
        mprotect(all + LENGTH, GUARD, vec_guards_readable ? PROT_READ : PROT_NONE) != 0)
        vec_fail("no memory");
    return all + LENGTH;
}

static void equal(const char *routine, double got, double wanted)
{
    vec_now.routine = routine;
    if (got != wanted)
        vec_fail("%.17g, not %.17g", got, wanted);
}

#define T double
#define R(name) d##name
#define LONG long_double
#define SAME same_double
#define SQUARE_ROOT sqrt
#include "vec_long_type.h"
#undef T
#undef R
#undef LONG
#undef SAME
#undef SQUARE_ROOT
#define T float
#define R(name) s##name
#define LONG long_float
#define SAME same_float
#define SQUARE_ROOT sqrtf
#include "vec_long_type.h"

void vec_long(const struct okosu_vec_variant *row)
{
    static const size_t sizes[] = {66, 513, 1000, 2048, 4099, 20001, 100000, 262139, 400007};

    if (x_end == NULL) {
        x_end = guarded_end();
        y_end = guarded_end();
        z_end = guarded_end();
    }
    vec_now = (struct vec_context){.row = row->about.name, .layout = "long"};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t shift = 0; shift < 3; shift++) {
            long_double(row, sizes[i], shift);
            long_float(row, sizes[i], shift);
            same_double(row, sizes[i], shift);
            same_float(row, sizes[i], shift);
        }
}
