/* SPDX-License-Identifier: Apache-2.0 */
/* ref: plain loops in the order of the elements, which the other variants are compared with. */
#include "vec/common.h"

#define TYPE double
#define ABS fabs
#define ROUTINE(name) d##name
#include "vec/ref_type.h"
#undef TYPE
#undef ABS
#undef ROUTINE

#define TYPE float
#define ABS fabsf
#define ROUTINE(name) s##name
#include "vec/ref_type.h"

/* The elements are divided by a power of two near the largest one: then no square overflows, and
 * only squares too small to change the sum vanish. */
static double dnrm2(const double *x, size_t n)
{
    double largest = 0, sum = 0;
    int exponent;

    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            return x[i];
        largest = fmax(largest, fabs(x[i]));
    }
    if (largest == 0 || isinf(largest))
        return largest;
    frexp(largest, &exponent);
    for (size_t i = 0; i < n; i++) {
        double scaled = ldexp(x[i], -exponent);

        sum += scaled * scaled;
    }
    return ldexp(sqrt(sum), exponent);
}

/* The square of a float neither overflows nor vanishes in a double. */
static float snrm2(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return (float)sqrt(sum);
}

OKOSU_ROUTINE(vec, 90,
              ref) = {.about = {.name = "ref", .needs = 0, .doc = "plain C loops, one running sum"},
                      .dpartials = 1,
                      .spartials = 1,
                      VEC_MEMBERS};
