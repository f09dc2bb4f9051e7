/* SPDX-License-Identifier: Apache-2.0 */
/* What is exact beside math.c: remainders of the nearest quotient, exponents, and the next number. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>

/* The remainder of the quotient that is nearest, and that quotient's last three bits. Not of special
 * operands. */
static double nearest_remainder(double x, double y, int *quotient)
{
    double rest = fabs(x), divisor = fabs(y), scale = divisor > DBL_MAX / 16.0 ? 0.0625 : 1.0;
    int count = 0;

    if (divisor <= DBL_MAX / 8.0)
        rest = fmod(rest, 8.0 * divisor);
    for (int k = 4; k >= 1; k /= 2) {
        if (rest * scale >= k * (divisor * scale)) {
            rest -= k * divisor;
            count += k;
        }
    }
    /* The difference is exact where the two are near each other. */
    if (rest > divisor - rest || (rest == divisor - rest && (count & 1) != 0)) {
        rest -= divisor;
        count++;
    }
    *quotient = !signbit(x) == !signbit(y) ? count & 7 : -(count & 7);
    if (rest == 0.0)
        return copysign(0.0, x);
    return signbit(x) ? -rest : rest;
}

double remquo(double x, double y, int *quotient)
{
    *quotient = 0;
    if (isnan(x) || isnan(y) || isinf(x) || y == 0.0)
        return (double)NAN;
    if (isinf(y))
        return x;
    return nearest_remainder(x, y, quotient);
}

double remainder(double x, double y)
{
    int quotient;

    return remquo(x, y, &quotient);
}

float remquof(float x, float y, int *quotient)
{
    return (float)remquo((double)x, (double)y, quotient);
}

float remainderf(float x, float y)
{
    return (float)remainder((double)x, (double)y);
}

int ilogb(double x)
{
    int exponent;

    if (x == 0.0)
        return FP_ILOGB0;
    if (isnan(x))
        return FP_ILOGBNAN;
    if (isinf(x))
        return INT_MAX;
    frexp(x, &exponent);
    return exponent - 1;
}

double logb(double x)
{
    if (x == 0.0)
        return -(double)INFINITY;
    if (!isfinite(x))
        return x * x;
    return ilogb(x);
}

int ilogbf(float x)
{
    return ilogb((double)x);
}

float logbf(float x)
{
    return (float)logb((double)x);
}

static int clamped(long exponent)
{
    return exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : (int)exponent;
}

double scalbln(double x, long exponent)
{
    return scalbn(x, clamped(exponent));
}

float scalblnf(float x, long exponent)
{
    return scalbnf(x, clamped(exponent));
}

double nan(const char *tag)
{
    (void)tag;
    return (double)NAN;
}

float nanf(const char *tag)
{
    (void)tag;
    return NAN;
}

/* The bits of numbers of one sign rise with the number, so that the next one is the next integer. */
#define NEXT(type, word, name, smallest)                                                           \
    type name(type x, type towards)                                                                \
    {                                                                                              \
        union {                                                                                    \
            type value;                                                                            \
            word bits;                                                                             \
        } next = {.value = x};                                                                     \
                                                                                                   \
        if (isnan(x) || isnan(towards))                                                            \
            return x + towards;                                                                    \
        if (x == towards)                                                                          \
            return towards;                                                                        \
        if (x == 0)                                                                                \
            return towards > 0 ? smallest : -smallest;                                             \
        if ((x < towards) == (x > 0))                                                              \
            next.bits++;                                                                           \
        else                                                                                       \
            next.bits--;                                                                           \
        return next.value;                                                                         \
    }

NEXT(double, uint64_t, nextafter, 0x1p-1074)
NEXT(float, uint32_t, nextafterf, 0x1p-149f)

/* RISC-V's long double has 128 bits, for which there is nothing here. */
#ifndef __riscv
double nexttoward(double x, long double towards)
{
    return nextafter(x, (double)towards);
}

float nexttowardf(float x, long double towards)
{
    if (isnan(x) || isnan(towards))
        return NAN;
    if ((long double)x == towards)
        return (float)towards;
    return nextafterf(x, (long double)x < towards ? INFINITY : -INFINITY);
}
#endif
