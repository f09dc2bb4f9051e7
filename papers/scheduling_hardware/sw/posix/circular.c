/* SPDX-License-Identifier: Apache-2.0 */
/* Trigonometric functions and their inverses, with an error below one unit in the last place (the
 * tests compare them with a more precise library).
 *
 * The angle is reduced by integers: x is M 2^e with M of 53 bits, and of the bits of 2/pi those that
 * make whole turns are left out, so that a product of 53 by 192 bits has the quadrant in its first
 * two bits and the rest of the angle after them, for the largest double as for the smallest (M. H.
 * Payne and R. N. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983).
 * An inverse tangent is that of the nearest eighth, from a table, and of what is left by the
 * addition theorem. */
#include "pair.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { BIAS = 1023, FRACTION = 52, WINDOW = 6, BEFORE = 64 };

static const pair half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
static const pair sixth = {0x1.5555555555555p-3, 0x1.5555555555555p-57};
static const pair pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

/* 2/pi, most significant word first, behind BEFORE zeros. */
static const uint32_t two_over_pi[] = {
    0,          0,          0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0,          0};

/* atan(k/8) for k = 0 to 8. */
static const pair eighths[] = {{0.0, 0.0},
                               {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                               {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                               {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                               {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                               {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                               {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                               {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                               {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

/* The product modulo 2^192 of a number of 53 bits and of 192 bits of 2/pi from bit `from` of the
 * table on; the least significant word comes first. */
static void multiply_window(uint64_t number, unsigned from, uint32_t product[WINDOW])
{
    const uint32_t *at = two_over_pi + from / 32;
    unsigned by = from % 32;
    uint32_t halves[] = {(uint32_t)number, (uint32_t)(number >> 32)};

    for (int k = 0; k < WINDOW; k++)
        product[k] = 0;
    for (int k = 0; k < WINDOW; k++) {
        int word = WINDOW - 1 - k;
        uint32_t bits = by ? at[word] << by | at[word + 1] >> (32 - by) : at[word];

        for (int half = 0; half < 2; half++) {
            uint64_t carry = (uint64_t)bits * halves[half];

            for (int to = k + half; to < WINDOW && carry; to++) {
                carry += product[to];
                product[to] = (uint32_t)carry;
                carry >>= 32;
            }
        }
    }
}

/* The words as a fraction of 1, of which leading zeros are passed over. */
static pair fraction_of(const uint32_t words[WINDOW])
{
    pair sum = {0.0, 0.0};
    double weight = 0x1p-32;
    int taken = 0;

    for (int k = WINDOW - 1; k >= 0 && taken < 5; k--, weight *= 0x1p-32) {
        if (words[k] || taken)
            taken++;
        sum = pair_add(sum, (pair){words[k] * weight, 0.0});
    }
    return sum;
}

/* The angle less the nearest multiple of pi/2, which lies within pi/4 of 0, and the number of that
 * multiple modulo 4. x is finite. */
static pair reduced(double x, unsigned *quadrant)
{
    union {
        double value;
        uint64_t bits;
    } of = {.value = fabs(x)};
    int exponent = (int)(of.bits >> FRACTION) - BIAS - FRACTION;
    uint64_t number = (of.bits & ((UINT64_C(1) << FRACTION) - 1)) | UINT64_C(1) << FRACTION;
    uint32_t product[WINDOW];
    bool nearer_above;
    pair rest;

    *quadrant = 0;
    if (fabs(x) < 0.785)
        return (pair){x, 0.0};
    multiply_window(number, (unsigned)(exponent - 2 + BEFORE), product);
    *quadrant = product[WINDOW - 1] >> 30;
    /* Two bits up, so that the fraction of a quarter turn begins the first word. */
    for (int k = WINDOW - 1; k > 0; k--)
        product[k] = product[k] << 2 | product[k - 1] >> 30;
    product[0] <<= 2;
    nearer_above = product[WINDOW - 1] >> 31;
    if (nearer_above) {
        uint64_t carry = 1;

        for (int k = 0; k < WINDOW; k++) {
            carry += (uint32_t)~product[k];
            product[k] = (uint32_t)carry;
            carry >>= 32;
        }
        ++*quadrant;
    }
    rest = pair_multiply(fraction_of(product), half_pi);
    if (nearer_above != (x < 0.0))
        rest = pair_negative(rest);
    if (x < 0.0)
        *quadrant = -*quadrant;
    *quadrant &= 3;
    return rest;
}

/* sin x for |x| <= pi/4. */
static pair sine(pair x)
{
    pair cube = pair_multiply(pair_multiply(x, x), x);
    double z = x.high * x.high, rest = -1.0 / 355687428096000;

    rest = rest * z + 1.0 / 1307674368000;
    rest = rest * z - 1.0 / 6227020800;
    rest = rest * z + 1.0 / 39916800;
    rest = rest * z - 1.0 / 362880;
    rest = rest * z + 1.0 / 5040;
    rest = rest * z - 1.0 / 120;
    cube = pair_add(x, pair_negative(pair_multiply(cube, sixth)));
    return pair_of_ordered(cube.high, cube.low - x.high * z * z * rest);
}

/* cos x for |x| <= pi/4. */
static pair cosine(pair x)
{
    pair square = pair_multiply(x, x);
    double z = square.high, rest = 1.0 / 20922789888000;

    rest = rest * z - 1.0 / 87178291200;
    rest = rest * z + 1.0 / 479001600;
    rest = rest * z - 1.0 / 3628800;
    rest = rest * z + 1.0 / 40320;
    rest = rest * z - 1.0 / 720;
    rest = rest * z + 1.0 / 24;
    square = pair_add((pair){1.0, 0.0}, pair_scale(square, -0.5));
    return pair_of_ordered(square.high, square.low + z * z * rest);
}

/* The sine of x and quarters of a turn. */
static double turned(double x, unsigned quarters)
{
    unsigned quadrant;
    pair rest, result;

    if (!isfinite(x))
        return x - x;
    rest = reduced(x, &quadrant);
    quadrant = (quadrant + quarters) & 3;
    result = quadrant & 1 ? cosine(rest) : sine(rest);
    return quadrant & 2 ? -(result.high + result.low) : result.high + result.low;
}

double sin(double x)
{
    return x == 0.0 ? x : turned(x, 0);
}

double cos(double x)
{
    return turned(x, 1);
}

double tan(double x)
{
    unsigned quadrant;
    pair rest, result;

    if (x == 0.0 || !isfinite(x))
        return x == 0.0 ? x : x - x;
    rest = reduced(x, &quadrant);
    if (quadrant & 1)
        result = pair_divide(pair_negative(cosine(rest)), sine(rest));
    else
        result = pair_divide(sine(rest), cosine(rest));
    return result.high + result.low;
}

/* atan x for |x| <= 1/15. */
static pair small_inverse_tangent(pair x)
{
    double z = x.high * x.high, rest = 1.0 / 15;

    for (int n = 13; n >= 3; n -= 2)
        rest = 1.0 / n - rest * z;
    return pair_of_ordered(x.high, x.low - x.high * z * rest);
}

/* The angle in the first quadrant whose tangent is y / x; neither is negative, not both are 0, and
 * the larger of them is neither large nor small. */
static pair angle_of(pair x, pair y)
{
    bool steep = y.high > x.high;
    pair less = steep ? x : y, more = steep ? y : x, angle, eighth;
    int k = (int)(8.0 * (less.high / more.high) + 0.5);

    eighth = (pair){0.125 * k, 0.0};
    if (k == 0) {
        angle = small_inverse_tangent(pair_divide(less, more));
    } else {
        pair above = pair_add(less, pair_negative(pair_multiply(eighth, more)));
        pair below = pair_add(more, pair_multiply(eighth, less));

        angle = pair_add(eighths[k], small_inverse_tangent(pair_divide(above, below)));
    }
    return steep ? pair_add(half_pi, pair_negative(angle)) : angle;
}

double atan(double x)
{
    double size = fabs(x);
    pair angle;

    if (isnan(x) || size < 0x1p-28)
        return x == 0.0 || isnan(x) ? x : x - x * (x * x / 3.0);
    if (size > 0x1p60)
        return copysign(half_pi.high, x);
    angle = angle_of((pair){1.0, 0.0}, (pair){size, 0.0});
    return copysign(angle.high + angle.low, x);
}

/* C17, F.10.1.4. */
double atan2(double y, double x)
{
    double width = fabs(x), height = fabs(y);
    bool left = signbit(x);
    int exponent, other;
    pair angle;

    if (isnan(x) || isnan(y))
        return x + y;
    if (isinf(width) && isinf(height)) {
        width = height = 1.0;
    } else if (isinf(width) || height == 0.0) {
        return copysign(left ? pi.high : 0.0, y);
    } else if (isinf(height) || width == 0.0) {
        return copysign(half_pi.high, y);
    }
    frexp(width, &exponent);
    frexp(height, &other);
    if (exponent - other > 60)
        return copysign(left ? pi.high : height / width, y);
    if (other - exponent > 60)
        return copysign(half_pi.high, y);
    other = exponent > other ? exponent : other;
    angle = angle_of((pair){scalbn(width, -other), 0.0}, (pair){scalbn(height, -other), 0.0});
    if (left)
        angle = pair_add(pi, pair_negative(angle));
    return copysign(angle.high + angle.low, y);
}

/* sqrt(1 - x^2) for 0 <= x < 1. */
static pair other_side(double x)
{
    return pair_root(pair_multiply(pair_of_sum(1.0, -x), pair_of_sum(1.0, x)));
}

double asin(double x)
{
    double size = fabs(x);
    pair angle;

    if (!(size < 1.0))
        return size == 1.0 ? copysign(half_pi.high, x) : isnan(x) ? x : (double)NAN;
    if (size < 0x1p-28)
        return x == 0.0 ? x : x + x * (x * x / 6.0);
    angle = angle_of(other_side(size), (pair){size, 0.0});
    return copysign(angle.high + angle.low, x);
}

double acos(double x)
{
    double size = fabs(x);
    pair angle;

    if (!(size < 1.0))
        return size == 1.0 ? (x < 0.0 ? pi.high : 0.0) : isnan(x) ? x : (double)NAN;
    angle = angle_of((pair){size, 0.0}, other_side(size));
    if (x < 0.0)
        angle = pair_add(pi, pair_negative(angle));
    return angle.high + angle.low;
}
