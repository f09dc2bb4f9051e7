/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of exponential.c, circular.c and gamma.c in single precision: those of double precision,
 * rounded once more. */
#include <math.h>

#define SINGLE(name)                                                                               \
    float name##f(float x)                                                                         \
    {                                                                                              \
        return (float)name((double)x);                                                             \
    }
#define SINGLE_OF_TWO(name)                                                                        \
    float name##f(float x, float y)                                                                \
    {                                                                                              \
        return (float)name((double)x, (double)y);                                                  \
    }

SINGLE(exp)
SINGLE(exp2)
SINGLE(expm1)
SINGLE(log)
SINGLE(log2)
SINGLE(log10)
SINGLE(log1p)
SINGLE(cbrt)
SINGLE(sinh)
SINGLE(cosh)
SINGLE(tanh)
SINGLE(asinh)
SINGLE(acosh)
SINGLE(atanh)
SINGLE(sin)
SINGLE(cos)
SINGLE(tan)
SINGLE(asin)
SINGLE(acos)
SINGLE(atan)
SINGLE(erf)
SINGLE(erfc)
SINGLE(tgamma)
SINGLE(lgamma)
SINGLE_OF_TWO(pow)
SINGLE_OF_TWO(hypot)
SINGLE_OF_TWO(atan2)
