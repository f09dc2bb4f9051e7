/* SPDX-License-Identifier: Apache-2.0 */
/* Exponentials, logarithms, powers and hyperbolic functions, with an error below one unit in the last
 * place (the tests compare them with a more precise library).
 *
 * exp: x = k ln 2 + r with |r| <= ln 2 / 2, and exp r = 1 + r + r^2/2 + r^3 (1/6 + r/24 + …), whose
 * first terms are pairs and whose rest is so small that a double does. log: x = m 2^k with m between
 * the roots of 1/2 and 2, and log m = 2 artanh s = 2 (s + s^3/3 + …) with s = (m-1)/(m+1). A power is
 * exp(y log x), for which the logarithm is precise to 65 bits. */
#include "exponential.h"

#include <math.h>
#include <stdbool.h>

/* The first part has 32 bits, so that its product with a small integer is exact. */
#define LN2_FIRST 0x1.62e42fee00000p-1
#define LN2_SECOND 0x1.a39ef35793c76p-33
#define LN2_THIRD 0x1.cc01f97b57a08p-87
static const pair ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
static const pair inverse_ln2 = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
static const pair inverse_ln10 = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
static const pair third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};

/* From here on exp x is infinite, and below the second 0. */
#define MOST 709.782712893384
#define LEAST (-745.1332191019412)

static double value_of(pair x, int exponent)
{
    return scalbn(x.high + x.low, exponent);
}

pair exponential_less_1(pair x, int *exponent)
{
    double k = rint(x.high * inverse_ln2.high), rest;
    pair r = pair_of_sum(x.high - k * LN2_FIRST, -(k * LN2_SECOND)), square;

    r = pair_of_sum(r.high, r.low + (x.low - k * LN2_THIRD));
    square = pair_multiply(r, r);
    rest = 1.0 / 87178291200;
    rest = rest * r.high + 1.0 / 6227020800;
    rest = rest * r.high + 1.0 / 479001600;
    rest = rest * r.high + 1.0 / 39916800;
    rest = rest * r.high + 1.0 / 3628800;
    rest = rest * r.high + 1.0 / 362880;
    rest = rest * r.high + 1.0 / 40320;
    rest = rest * r.high + 1.0 / 5040;
    rest = rest * r.high + 1.0 / 720;
    rest = rest * r.high + 1.0 / 120;
    rest = rest * r.high + 1.0 / 24;
    rest = rest * r.high + 1.0 / 6;
    rest *= r.high * square.high;
    *exponent = (int)k;
    return pair_add(r, pair_add(pair_scale(square, 0.5), (pair){rest, 0.0}));
}

/* artanh s for |s| < 0.1716. */
static pair inverse_tangent(pair s)
{
    pair square = pair_multiply(s, s), first;
    double z = square.high, rest = 1.0 / 23;

    for (int n = 21; n >= 5; n -= 2)
        rest = rest * z + 1.0 / n;
    first = pair_multiply(pair_multiply(s, square), third);
    return pair_add(s, pair_add(first, (pair){s.high * z * z * rest, 0.0}));
}

/* The logarithm of m, and the exponent, which are not added. */
static pair logarithm_of_fraction(pair x, int *exponent)
{
    double fraction = frexp(x.high, exponent), power;
    pair less, more;

    if (fraction < 0.70710678118654752) {
        fraction *= 2.0;
        --*exponent;
    }
    /* Two steps, for 2^-*exponent may not be a double. */
    power = scalbn(1.0, -*exponent / 2);
    x.low = x.low * power * scalbn(1.0, -*exponent - -*exponent / 2);
    less = pair_of_sum(fraction - 1.0, x.low);
    more = pair_add(pair_of_ordered(2.0, fraction - 1.0), (pair){x.low, 0.0});
    return pair_scale(inverse_tangent(pair_divide(less, more)), 2.0);
}

pair logarithm(pair x)
{
    int exponent;
    pair of_fraction = logarithm_of_fraction(x, &exponent);
    double k = exponent;

    if (exponent == 0)
        return of_fraction;
    of_fraction = pair_add((pair){k * LN2_SECOND, k * LN2_THIRD}, of_fraction);
    return pair_add((pair){k * LN2_FIRST, 0.0}, of_fraction);
}

pair logarithm_of_1_and(pair x)
{
    if (x.high > -0.29 && x.high < 0.41) {
        pair more = pair_add((pair){2.0, 0.0}, x);

        return pair_scale(inverse_tangent(pair_divide(x, more)), 2.0);
    }
    return logarithm(pair_add((pair){1.0, 0.0}, x));
}

/* exp x, with the power of two apart. */
static pair exponential(pair x, int *exponent)
{
    return pair_add((pair){1.0, 0.0}, exponential_less_1(x, exponent));
}

static double exp_of_pair(pair x)
{
    int exponent;
    pair result;

    if (x.high > MOST + 1)
        return (double)INFINITY;
    if (x.high < LEAST - 1)
        return 0.0;
    result = exponential(x, &exponent);
    return value_of(result, exponent);
}

double exp(double x)
{
    return isnan(x) ? x + x : exp_of_pair((pair){x, 0.0});
}

double exp2(double x)
{
    double whole = rint(x);
    int exponent;
    pair result;

    if (isnan(x))
        return x + x;
    if (x >= 1024.0)
        return (double)INFINITY;
    if (x < -1080.0)
        return 0.0;
    result = exponential(pair_multiply((pair){x - whole, 0.0}, ln2), &exponent);
    return value_of(result, exponent + (int)whole);
}

/* exp x - 1 for |x| < 709, as a pair. */
static pair less_1(pair x)
{
    int exponent;
    pair result = exponential_less_1(x, &exponent);

    if (exponent == 0)
        return result;
    result = pair_scale(pair_add((pair){1.0, 0.0}, result), scalbn(1.0, exponent));
    return pair_add(result, (pair){-1.0, 0.0});
}

double expm1(double x)
{
    pair result;

    if (isnan(x) || fabs(x) < 0x1p-54)
        return x;
    if (x < -40.0)
        return -1.0;
    if (x > 700.0)
        return exp(x);
    result = less_1((pair){x, 0.0});
    return result.high + result.low;
}

/* What has no logarithm: *result is set, and true returned. */
static bool is_outside(double x, double *result)
{
    if (x > 0.0 && isfinite(x))
        return false;
    *result = isnan(x) || x > 0.0 ? x + x : x == 0.0 ? -(double)INFINITY : (double)NAN;
    return true;
}

double log(double x)
{
    double result;
    pair found;

    if (is_outside(x, &result))
        return result;
    found = logarithm((pair){x, 0.0});
    return found.high + found.low;
}

double log2(double x)
{
    double result;
    int exponent;
    pair found;

    if (is_outside(x, &result))
        return result;
    found = pair_multiply(logarithm_of_fraction((pair){x, 0.0}, &exponent), inverse_ln2);
    found = pair_add((pair){exponent, 0.0}, found);
    return found.high + found.low;
}

double log10(double x)
{
    double result;
    pair found;

    if (is_outside(x, &result))
        return result;
    found = pair_multiply(logarithm((pair){x, 0.0}), inverse_ln10);
    return found.high + found.low;
}

double log1p(double x)
{
    double result;
    pair found;

    if (fabs(x) < 0x1p-54)
        return x;
    if (is_outside(x + 1.0, &result))
        return result;
    found = x < 0x1p60 ? logarithm_of_1_and((pair){x, 0.0}) : logarithm((pair){x, 0.0});
    return found.high + found.low;
}

static bool is_whole(double x)
{
    return trunc(x) == x;
}

/* x > 0, x != 1; neither is infinite or NaN. */
static double positive_power(double x, double y)
{
    pair of_x = logarithm((pair){x, 0.0}), product;
    double rough = y * of_x.high;

    if (rough > 800.0)
        return (double)INFINITY;
    if (rough < -800.0)
        return 0.0;
    if (fabs(rough) < 0x1p-60)
        return 1.0 + rough;
    product = pair_of_product(y, of_x.high);
    return exp_of_pair(pair_of_ordered(product.high, product.low + y * of_x.low));
}

/* C17, F.10.4.4. */
double pow(double x, double y)
{
    bool odd = is_whole(y) && fabs(y) < 0x1p53 && !is_whole(y * 0.5);
    double size = fabs(x), result;

    if (y == 0.0 || x == 1.0)
        return 1.0;
    if (isnan(x) || isnan(y))
        return x + y;
    if (isinf(y))
        return size == 1.0 ? 1.0 : (size > 1.0) == (y > 0.0) ? (double)INFINITY : 0.0;
    if (x < 0.0 && isfinite(x) && !is_whole(y))
        return (double)NAN;
    if (x == 0.0 || isinf(x))
        result = (x == 0.0) == (y > 0.0) ? 0.0 : (double)INFINITY;
    else
        result = size == 1.0 ? 1.0 : positive_power(size, y);
    return odd ? copysign(result, x) : result;
}

double cbrt(double x)
{
    if (x == 0.0 || !isfinite(x))
        return x + x;
    return copysign(exp_of_pair(pair_multiply(logarithm((pair){fabs(x), 0.0}), third)), x);
}

double sinh(double x)
{
    double size = fabs(x);
    pair e, result;

    if (x == 0.0 || !isfinite(x))
        return x + x;
    if (size < 0x1p-28)
        return x + x * (x * x / 6.0);
    if (size > 40.0)
        return copysign(exp_of_pair(pair_add((pair){size, 0.0}, pair_negative(ln2))), x);
    e = less_1((pair){size, 0.0});
    result = pair_add(e, pair_divide(e, pair_add((pair){1.0, 0.0}, e)));
    return copysign(0.5 * (result.high + result.low), x);
}

double cosh(double x)
{
    double size = fabs(x);
    pair e, result;

    if (!isfinite(x))
        return x * x;
    if (size > 40.0)
        return exp_of_pair(pair_add((pair){size, 0.0}, pair_negative(ln2)));
    e = pair_add((pair){1.0, 0.0}, less_1((pair){size, 0.0}));
    result = pair_add(e, pair_divide((pair){1.0, 0.0}, e));
    return 0.5 * (result.high + result.low);
}

double tanh(double x)
{
    double size = fabs(x);
    pair e, result;

    if (x == 0.0 || isnan(x))
        return x;
    if (size < 0x1p-28)
        return x - x * (x * x / 3.0);
    if (size > 22.0)
        return copysign(1.0, x);
    e = less_1((pair){2.0 * size, 0.0});
    result = pair_divide(e, pair_add((pair){2.0, 0.0}, e));
    return copysign(result.high + result.low, x);
}

double asinh(double x)
{
    double size = fabs(x);
    pair root, more;

    if (x == 0.0 || !isfinite(x))
        return x;
    if (size < 0x1p-28)
        return x - x * (x * x / 6.0);
    if (size > 0x1p30) {
        more = pair_add(logarithm((pair){size, 0.0}), ln2);
    } else {
        pair square = pair_of_product(size, size);

        /* x + sqrt(x^2 + 1) = 1 + (x + x^2 / (1 + sqrt(x^2 + 1))) */
        root = pair_root(pair_add((pair){1.0, 0.0}, square));
        more = pair_divide(square, pair_add((pair){1.0, 0.0}, root));
        more = logarithm_of_1_and(pair_add((pair){size, 0.0}, more));
    }
    return copysign(more.high + more.low, x);
}

double acosh(double x)
{
    pair less, more;

    if (!(x >= 1.0))
        return isnan(x) ? x : (double)NAN;
    if (x == 1.0 || isinf(x))
        return x == 1.0 ? 0.0 : x;
    if (x > 0x1p30) {
        more = pair_add(logarithm((pair){x, 0.0}), ln2);
    } else {
        /* With t = x - 1: x + sqrt(x^2 - 1) = 1 + (t + sqrt(t (t + 2))) */
        less = pair_of_sum(x, -1.0);
        more = pair_root(pair_multiply(less, pair_add((pair){2.0, 0.0}, less)));
        more = logarithm_of_1_and(pair_add(less, more));
    }
    return more.high + more.low;
}

double atanh(double x)
{
    double size = fabs(x);
    pair result;

    if (!(size < 1.0))
        return size == 1.0 ? copysign((double)INFINITY, x) : isnan(x) ? x : (double)NAN;
    if (size < 0x1p-28)
        return x == 0.0 ? x : x + x * (x * x / 3.0);
    /* (1 + x) / (1 - x) = 1 + 2 x / (1 - x) */
    result = pair_divide((pair){2.0 * size, 0.0}, pair_of_sum(1.0, -size));
    result = logarithm_of_1_and(result);
    return copysign(0.5 * (result.high + result.low), x);
}

double hypot(double x, double y)
{
    double most, least, power;
    int exponent;
    pair sum;

    x = fabs(x);
    y = fabs(y);
    if (isinf(x) || isinf(y))
        return (double)INFINITY;
    if (isnan(x) || isnan(y))
        return x + y;
    most = x > y ? x : y;
    least = x > y ? y : x;
    if (least == 0.0)
        return most;
    frexp(most, &exponent);
    power = scalbn(1.0, -exponent / 2);
    most = most * power * scalbn(1.0, -exponent - -exponent / 2);
    least = least * power * scalbn(1.0, -exponent - -exponent / 2);
    if (least < 0x1p-54)
        return value_of((pair){most, 0.0}, exponent);
    sum = pair_add(pair_of_product(most, most), pair_of_product(least, least));
    return value_of(pair_root(sum), exponent);
}
