/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of math.h on the bits of a double, most of them exact; those of single precision by
 * those of double precision, whose results are representable there or are rounded once more without
 * harm (float.c says why). */
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { BIAS = 1023, FRACTION = 52, MOST_EXPONENT = 0x7ff };

#define SIGN UINT64_C(0x8000000000000000)
#define HIDDEN (UINT64_C(1) << FRACTION)

union number {
    double value;
    uint64_t bits;
};

static uint64_t bits_of(double x)
{
    return (union number){.value = x}.bits;
}

static double from_bits(uint64_t bits)
{
    return (union number){.bits = bits}.value;
}

static int exponent_of(double x)
{
    return (int)(bits_of(x) >> FRACTION & MOST_EXPONENT);
}

static bool is_special(double x)
{
    return exponent_of(x) == MOST_EXPONENT;
}

static bool is_not_a_number(double x)
{
    return (bits_of(x) & ~SIGN) > (uint64_t)MOST_EXPONENT << FRACTION;
}

double fabs(double x)
{
    return from_bits(bits_of(x) & ~SIGN);
}

double copysign(double x, double sign)
{
    return from_bits((bits_of(x) & ~SIGN) | (bits_of(sign) & SIGN));
}

double trunc(double x)
{
    int below = FRACTION - (exponent_of(x) - BIAS);

    if (below <= 0)
        return is_not_a_number(x) ? x + x : x;
    if (below > FRACTION)
        return from_bits(bits_of(x) & SIGN);
    return from_bits(bits_of(x) & ~((UINT64_C(1) << below) - 1));
}

double floor(double x)
{
    double whole = trunc(x);

    return whole > x ? whole - 1.0 : whole;
}

double ceil(double x)
{
    double whole = trunc(x);

    /* -0.5 becomes -0, as it has to. */
    return whole < x ? whole + 1.0 : whole;
}

double round(double x)
{
    double whole = trunc(x), rest = fabs(x - whole);

    if (is_special(x) || !(rest >= 0.5))
        return whole;
    return whole + copysign(1.0, x);
}

double rint(double x)
{
    double whole = trunc(x), rest = fabs(x - whole);

    if (is_special(x) || rest < 0.5 || (rest == 0.5 && trunc(whole * 0.5) * 2.0 == whole))
        return whole;
    return whole + copysign(1.0, x);
}

double nearbyint(double x)
{
    return rint(x);
}

long lround(double x)
{
    return (long)round(x);
}

long lrint(double x)
{
    return (long)rint(x);
}

long long llround(double x)
{
    return (long long)round(x);
}

long long llrint(double x)
{
    return (long long)rint(x);
}

double modf(double x, double *whole)
{
    *whole = trunc(x);
    if (is_special(x))
        return is_not_a_number(x) ? x + x : copysign(0.0, x);
    return copysign(x - *whole, x);
}

/* Multiplied by a power of two until it is normalised; `shift` is by how much. */
static double normalised(double x, int *shift)
{
    *shift = 0;
    if (exponent_of(x) != 0 || x == 0.0)
        return x;
    *shift = 54;
    return x * 18014398509481984.0;
}

double frexp(double x, int *exponent)
{
    int shift;

    *exponent = 0;
    if (is_special(x) || x == 0.0)
        return is_not_a_number(x) ? x + x : x;
    x = normalised(x, &shift);
    *exponent = exponent_of(x) - (BIAS - 1) - shift;
    return from_bits((bits_of(x) & ~((uint64_t)MOST_EXPONENT << FRACTION)) | (uint64_t)(BIAS - 1)
                                                                                 << FRACTION);
}

double scalbn(double x, int exponent)
{
    int shift, result;

    if (is_special(x) || x == 0.0)
        return is_not_a_number(x) ? x + x : x;
    x = normalised(x, &shift);
    /* Far outside, so that the sum does not overflow. */
    if (exponent > 5000)
        exponent = 5000;
    if (exponent < -5000)
        exponent = -5000;
    result = exponent_of(x) - shift + exponent;
    if (result >= MOST_EXPONENT)
        return copysign((double)INFINITY, x);
    x = from_bits(bits_of(x) & ~((uint64_t)MOST_EXPONENT << FRACTION));
    if (result > 0)
        return from_bits(bits_of(x) | (uint64_t)result << FRACTION);
    /* Rounded once, by a multiplication; below the smallest number nothing is left. */
    if (result < -54)
        return copysign(0.0, x);
    return from_bits(bits_of(x) | (uint64_t)(result + 54) << FRACTION) * 5.5511151231257827e-17;
}

double ldexp(double x, int exponent)
{
    return scalbn(x, exponent);
}

/* By long division: the remainder is exact. */
double fmod(double x, double y)
{
    uint64_t rest, divisor;
    int shift_x, shift_y, steps, exponent;
    double a, b;

    if (is_not_a_number(x) || is_not_a_number(y) || is_special(x) || y == 0.0)
        return NAN;
    if (is_special(y) || fabs(x) < fabs(y))
        return x;
    a = normalised(fabs(x), &shift_x);
    b = normalised(fabs(y), &shift_y);
    rest = (bits_of(a) & (HIDDEN - 1)) | HIDDEN;
    divisor = (bits_of(b) & (HIDDEN - 1)) | HIDDEN;
    exponent = exponent_of(b) - shift_y;
    for (steps = exponent_of(a) - shift_x - exponent;; steps--) {
        if (rest >= divisor)
            rest -= divisor;
        if (steps == 0)
            break;
        rest <<= 1;
    }
    if (rest == 0)
        return copysign(0.0, x);
    return copysign(scalbn((double)rest, exponent - BIAS - FRACTION), x);
}

/* Bit by bit: the root of 108 bits, of which one more is kept than is needed, and whether anything is
 * left decides the rounding. */
double sqrt(double x)
{
    uint64_t fraction, root = 0, rest = 0;
    int shift, exponent;

    if (is_not_a_number(x) || x == 0.0)
        return x == 0.0 ? x : x + x;
    if ((bits_of(x) & SIGN) != 0)
        return NAN;
    if (is_special(x))
        return x;
    x = normalised(x, &shift);
    exponent = exponent_of(x) - BIAS - shift;
    fraction = (bits_of(x) & (HIDDEN - 1)) | HIDDEN;
    if ((exponent & 1) != 0) {
        fraction <<= 1;
        exponent--;
    }
    /* 54 digits of the root, two bits of the operand for each; the first ones are fraction's upper. */
    for (int digit = 0; digit < 54; digit++) {
        int at = 52 - 2 * digit;
        uint64_t next = at >= 0 ? fraction >> at & 3 : 0, trial;

        rest = rest << 2 | next;
        trial = root << 2 | 1;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    /* 54 bits, the last of which decides with what is left; never a tie, for no root has 54 bits. */
    root = (root >> 1) + (root & 1);
    (void)rest;
    return scalbn((double)root, exponent / 2 - FRACTION);
}

/* One that is no number does not count. */
double fmin(double x, double y)
{
    if (is_not_a_number(x))
        return y;
    if (is_not_a_number(y))
        return x;
    if (x == y)
        return (bits_of(x) & SIGN) != 0 ? x : y;
    return x < y ? x : y;
}

double fmax(double x, double y)
{
    if (is_not_a_number(x))
        return y;
    if (is_not_a_number(y))
        return x;
    if (x == y)
        return (bits_of(x) & SIGN) != 0 ? y : x;
    return x > y ? x : y;
}

double fdim(double x, double y)
{
    if (is_not_a_number(x) || is_not_a_number(y))
        return NAN;
    return x > y ? x - y : 0.0;
}

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

SINGLE(fabs)
SINGLE(trunc)
SINGLE(floor)
SINGLE(ceil)
SINGLE(round)
SINGLE(rint)
SINGLE(nearbyint)
SINGLE(sqrt)
SINGLE_OF_TWO(copysign)
SINGLE_OF_TWO(fmod)
SINGLE_OF_TWO(fmin)
SINGLE_OF_TWO(fmax)
SINGLE_OF_TWO(fdim)

float modff(float x, float *whole)
{
    double wide, rest = modf(x, &wide);

    *whole = (float)wide;
    return (float)rest;
}

float frexpf(float x, int *exponent)
{
    return (float)frexp(x, exponent);
}

float scalbnf(float x, int exponent)
{
    return (float)scalbn(x, exponent);
}

float ldexpf(float x, int exponent)
{
    return scalbnf(x, exponent);
}
