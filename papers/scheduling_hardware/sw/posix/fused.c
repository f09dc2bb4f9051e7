/* SPDX-License-Identifier: Apache-2.0 */
/* fma: x y + z, rounded once. The product has 106 bits; it and z are added as whole numbers of 127
 * bits, of which the last one also stands for all that lies below it. */
#include "pair.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct wide {
    uint64_t high, low;
};

enum { TOP = 126, PRECISION = 53, LEAST_EXPONENT = -1074 };

static struct wide shifted_left(struct wide a, int by)
{
    if (by >= 64)
        return (struct wide){a.low << (by - 64), 0};
    if (by == 0)
        return a;
    return (struct wide){a.high << by | a.low >> (64 - by), a.low << by};
}

/* What falls out is kept in the last bit. */
static struct wide shifted_right(struct wide a, int by)
{
    uint64_t lost;

    if (by == 0)
        return a;
    if (by > TOP)
        return (struct wide){0, (a.high | a.low) != 0};
    if (by >= 64) {
        lost = a.low | (by > 64 ? a.high << (128 - by) : 0);
        return (struct wide){0, a.high >> (by - 64) | (lost != 0)};
    }
    lost = a.low << (64 - by);
    return (struct wide){a.high >> by, (a.high << (64 - by) | a.low >> by) | (lost != 0)};
}

static int top_of(struct wide a)
{
    return a.high != 0 ? 127 - __builtin_clzll(a.high) : 63 - __builtin_clzll(a.low);
}

static struct wide product_of(uint64_t a, uint64_t b)
{
    uint64_t a1 = a >> 32, a0 = a & UINT32_MAX, b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t low = a0 * b0, first = a1 * b0, second = a0 * b1;
    uint64_t middle = (low >> 32) + (first & UINT32_MAX) + (second & UINT32_MAX);

    return (struct wide){a1 * b1 + (first >> 32) + (second >> 32) + (middle >> 32),
                         middle << 32 | (low & UINT32_MAX)};
}

static struct wide sum_of(struct wide a, struct wide b)
{
    uint64_t low = a.low + b.low;

    return (struct wide){a.high + b.high + (low < a.low), low};
}

static struct wide difference_of(struct wide a, struct wide b)
{
    return (struct wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}

static bool is_less(struct wide a, struct wide b)
{
    return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* |x| as a whole number of 53 bits times 2^*exponent; x is finite and not 0. */
static uint64_t whole_of(double x, int *exponent)
{
    double fraction = frexp(fabs(x), exponent);

    *exponent -= PRECISION;
    return (uint64_t)(fraction * 0x1p53);
}

/* Rounds a 2^exponent, a not 0, to the nearest double, halves to even. */
static double rounded(struct wide a, int exponent, bool negative)
{
    int drop = top_of(a) + 1 - PRECISION;
    uint64_t kept, half;
    double value;

    if (drop < LEAST_EXPONENT - exponent)
        drop = LEAST_EXPONENT - exponent;
    if (drop < 0) {
        a = shifted_left(a, -drop);
        exponent += drop;
        drop = 0;
    }
    /* One bit more than is kept, and one for what lies below it. */
    a = drop >= 2 ? shifted_right(a, drop - 2) : shifted_left(a, 2 - drop);
    kept = a.low >> 2;
    half = a.low & 3;
    if (half == 3 || (half == 2 && (kept & 1) != 0))
        kept++;
    value = scalbn((double)kept, exponent + drop);
    return negative ? -value : value;
}

double fma(double x, double y, double z)
{
    int exponent_x, exponent_y, exponent_z, exponent, shift;
    bool negative, other;
    struct wide product, third, result;

    /* Nothing is lost in a product that is 0, infinite or no number. */
    if (!isfinite(x) || !isfinite(y) || x == 0.0 || y == 0.0)
        return x * y + z;
    if (!isfinite(z))
        return z + z;
    if (z == 0.0)
        return x * y != 0.0 ? x * y : copysign(0.0, signbit(x) != signbit(y) ? -1.0 : 1.0);
    negative = signbit(x) != signbit(y);
    other = signbit(z) != 0;
    product = product_of(whole_of(x, &exponent_x), whole_of(y, &exponent_y));
    third = (struct wide){0, whole_of(z, &exponent_z)};
    shift = TOP - top_of(product);
    product = shifted_left(product, shift);
    exponent = exponent_x + exponent_y - shift;
    shift = TOP - top_of(third);
    third = shifted_left(third, shift);
    exponent_z -= shift;
    if (exponent > exponent_z) {
        third = shifted_right(third, exponent - exponent_z);
    } else {
        product = shifted_right(product, exponent_z - exponent);
        exponent = exponent_z;
    }
    if (negative == other) {
        result = sum_of(product, third);
    } else if (is_less(product, third)) {
        result = difference_of(third, product);
        negative = other;
    } else {
        result = difference_of(product, third);
    }
    if ((result.high | result.low) == 0)
        return 0.0;
    return rounded(result, exponent, negative);
}

/* The product of two floats is exact in a double. What the sum loses makes its last bit odd, so that
 * rounding it once more to a float, which has 29 bits fewer, rounds as if nothing had been lost. */
float fmaf(float x, float y, float z)
{
    union {
        double value;
        uint64_t bits;
    } odd;
    pair sum = pair_of_sum((double)x * (double)y, (double)z);

    odd.value = sum.high;
    if (isfinite(sum.high) && sum.low != 0.0 && (odd.bits & 1) == 0)
        odd.bits += (sum.low > 0.0) == (sum.high > 0.0) ? 1 : UINT64_MAX;
    return (float)odd.value;
}
