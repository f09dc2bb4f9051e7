/* SPDX-License-Identifier: Apache-2.0 */
/* The error function and the gamma function, in pairs (pair.h) wherever a double would not do.
 *
 * erf x = 2x/sqrt(pi) exp(-x^2) (1 + 2x^2/3 + (2x^2)^2/15 + ...), whose terms have one sign (NIST
 * Digital Library of Mathematical Functions, 7.6.2); erfc x by Laplace's continued fraction (7.9.1).
 * The logarithm of gamma is Stirling's series from 24 up (5.11.1), to which the recurrence leads; and
 * near its zeros at 1 and 2 the series in zeta(k) - 1 (5.7.3). */
#include "exponential.h"

#include <math.h>
#include <stdbool.h>

int signgam;

static const pair one = {1.0, 0.0};
static const pair inverse_root_pi = {0x1.20dd750429b6dp-1, 0x1.1ae3a914fed80p-57};
static const pair half_ln_2pi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
static const pair ln_pi = {0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57};

/* 2^*exponent times the result is exp(-x^2). */
static pair exponential_of_square(double x, int *exponent)
{
    return pair_add(one, exponential_less_1(pair_negative(pair_of_product(x, x)), exponent));
}

/* erf x / x, for |x| < 1.25. */
static pair error_series(double x)
{
    pair square = pair_scale(pair_of_product(x, x), 2.0), term = one, sum = one;
    int exponent;

    for (int n = 3; term.high > 0x1p-70; n += 2) {
        term = pair_divide(pair_multiply(term, square), (pair){n, 0.0});
        sum = pair_add(sum, term);
    }
    sum = pair_multiply(sum, exponential_of_square(x, &exponent));
    return pair_scale(pair_multiply(sum, inverse_root_pi), scalbn(2.0, exponent));
}

/* erfc x without its power of two, for 1.25 <= x < 28. A double does for the levels that are far
 * down, since each level makes an error smaller. */
static pair error_fraction(double x, int *exponent)
{
    enum { PRECISE = 20 };
    double down = x;
    pair at;

    for (int k = (int)(240.0 / (x * x)) + 2 * PRECISE; k > PRECISE; k--)
        down = x + 0.5 * k / down;
    at = (pair){down, 0.0};
    for (int k = PRECISE; k >= 1; k--)
        at = pair_add((pair){x, 0.0}, pair_divide((pair){0.5 * k, 0.0}, at));
    return pair_divide(pair_multiply(exponential_of_square(x, exponent), inverse_root_pi), at);
}

double erf(double x)
{
    double size = fabs(x), value;
    int exponent;
    pair found;

    if (isnan(x))
        return x + x;
    if (size < 0x1p-28) {
        /* Scaled, for the second product may be too small for a double. */
        found = pair_scale(inverse_root_pi, 2.0);
        return x == 0.0 ? x : ((x * 0x1p60) * found.high + (x * 0x1p60) * found.low) * 0x1p-60;
    }
    if (size > 6.0)
        return copysign(1.0, x);
    if (size < 1.25) {
        found = pair_multiply(error_series(size), (pair){size, 0.0});
        return copysign(found.high + found.low, x);
    }
    found = error_fraction(size, &exponent);
    found = pair_add(one, pair_negative(pair_scale(found, scalbn(1.0, exponent))));
    value = found.high + found.low;
    return copysign(value, x);
}

double erfc(double x)
{
    int exponent;
    pair found;

    if (isnan(x))
        return x + x;
    if (x > 28.0)
        return 0.0;
    if (x < -6.0)
        return 2.0;
    if (fabs(x) < 0x1p-60)
        return 1.0;
    if (fabs(x) < 1.25) {
        found = pair_multiply(error_series(fabs(x)), (pair){-x, 0.0});
        found = pair_add(one, found);
        return found.high + found.low;
    }
    found = error_fraction(fabs(x), &exponent);
    if (x < 0.0) {
        found = pair_add((pair){2.0, 0.0}, pair_negative(pair_scale(found, scalbn(1.0, exponent))));
        return found.high + found.low;
    }
    return scalbn(found.high + found.low, exponent);
}

/* From here up Stirling's series is as precise as a pair of logarithms is. */
#define STIRLING 24

/* The logarithm of gamma of a number of at least STIRLING and of at most 2.6e305. */
static pair stirling(pair y)
{
    /* B(2k) / (2k (2k - 1)), from k = 2. */
    static const double coefficients[] = {-1.0 / 360,        1.0 / 1260,      -1.0 / 1680,
                                          1.0 / 1188,        -691.0 / 360360, 1.0 / 156,
                                          -3617.0 / 122400.0};
    double square, rest = 0.0;
    pair inverse, result;

    if (y.high > 0x1p60) {
        /* What is left out is below the last bit; scaled, for the product of pairs splits numbers. */
        result = pair_multiply(pair_scale(y, 0x1p-60), pair_add(logarithm(y), (pair){-1.0, 0.0}));
        return pair_scale(result, 0x1p60);
    }
    inverse = pair_divide(one, y);
    square = inverse.high * inverse.high;
    result = pair_multiply(pair_add(y, (pair){-0.5, 0.0}), logarithm(y));
    for (int k = sizeof(coefficients) / sizeof(*coefficients); k-- > 0;)
        rest = (rest + coefficients[k]) * square;
    result = pair_add(result, pair_negative(y));
    result = pair_add(result, half_ln_2pi);
    return pair_add(result, pair_add(pair_divide(inverse, (pair){12.0, 0.0}),
                                     (pair){rest * inverse.high, 0.0}));
}

/* x + n, the first that is at least STIRLING, for x below it; *product 2^*exponent is x (x + 1) ...
 * (x + n - 1). */
static pair raised(double x, pair *product, int *exponent)
{
    int n = (int)ceil(STIRLING - x);

    *product = one;
    *exponent = 0;
    for (int i = 0; i < n; i++) {
        int power;

        *product = pair_multiply(*product, pair_of_sum(x, i));
        frexp(product->high, &power);
        *product = pair_scale(*product, scalbn(1.0, -power));
        *exponent += power;
    }
    return pair_of_sum(x, n);
}

double tgamma(double x)
{
    pair result, product = one, y = {x, 0.0};
    int exponent, below = 0;

    if (isnan(x) || x == -(double)INFINITY || (x < 0.0 && x == floor(x)))
        return (double)NAN;
    if (fabs(x) < 0x1p-54)
        return 1.0 / x;
    if (x > 172.0)
        return (double)INFINITY;
    if (x < -185.0)
        return fmod(floor(x), 2.0) == 0.0 ? 0.0 : -0.0;
    if (x < STIRLING)
        y = raised(x, &product, &below);
    result = pair_add(one, exponential_less_1(stirling(y), &exponent));
    result = pair_divide(result, product);
    return scalbn(result.high + result.low, exponent - below);
}

/* The logarithm of gamma of 2 + x for |x| <= 1/2. */
static pair near_2(double x)
{
    /* (-1)^k (zeta(k) - 1) / k: the first eight as pairs, from k = 2; and from k = 10. */
    static const pair first[] = {
        {0x1.4a34cc4a60fa6p-2, 0x1.1873d8912200cp-56},
        {-0x1.13e001a557607p-4, 0x1.fb68be2f8821fp-58},
        {0x1.51322ac7d8483p-6, 0x1.afc89088cb729p-60},
        {-0x1.e404fc218f5f2p-8, 0x1.e4a627cf1eb34p-62},
        {0x1.7add6eadb6c30p-9, -0x1.5b7828c7fd7f4p-64},
        {-0x1.38ac5c2bf8e08p-10, 0x1.8a4c1cfd9cec8p-65},
        {0x1.0b36af86396e9p-11, -0x1.0698d6c892967p-65},
        {-0x1.d3fd4c76d2fc8p-13, 0x1.c7c55cfccbb83p-68},
    };
    static const double then[] = {
        0x1.a127b0f17d65ap-14,  -0x1.78de5bd7c81efp-15, 0x1.580dcee66eb02p-16,
        -0x1.3cbc963ce2243p-17, 0x1.2597a39f34aacp-18,  -0x1.11b2eb7679541p-19,
        0x1.0064cdeb22f0fp-20,  -0x1.e2600d93cfd2fp-22, 0x1.c76bbb3f07a4dp-23,
        -0x1.af5a6cbbf8a97p-24, 0x1.99b93c2070b0fp-25,  -0x1.862c734df3eacp-26,
        0x1.7469daccfadcdp-27,  -0x1.6434a8447aeadp-28, 0x1.555a877ffd2c3p-29,
        -0x1.47b1679258d0ep-30, 0x1.3b15d2b2fc10cp-31,  -0x1.2f69a9fabe3e0p-32,
        0x1.24932a337434cp-33,  -0x1.1a7c26ec2523cp-34, 0x1.11116e693ed98p-35,
        -0x1.08424cbc543d8p-36, 0x1.000026e3f644fp-37,  -0x1.f07c514fc9f0ap-39,
    };
    static const pair less_euler = {0x1.b0ee6072093cep-2, 0x1.6cb90701fbfabp-58};
    double rest = 0.0;
    pair sum;

    for (int k = sizeof(then) / sizeof(*then); k-- > 0;)
        rest = rest * x + then[k];
    sum = (pair){rest, 0.0};
    for (int k = sizeof(first) / sizeof(*first); k-- > 0;)
        sum = pair_add(pair_multiply(sum, (pair){x, 0.0}), first[k]);
    sum = pair_add(pair_multiply(sum, (pair){x, 0.0}), less_euler);
    return pair_multiply(sum, (pair){x, 0.0});
}

/* The logarithm of gamma of 1 + x for |x| <= 1/2. */
static pair near_1(double x)
{
    return pair_add(near_2(x), pair_negative(logarithm_of_1_and((pair){x, 0.0})));
}

/* The logarithm of gamma of a positive number. */
static pair positive(double x)
{
    pair product, y;
    int below;

    if (x >= STIRLING)
        return stirling((pair){x, 0.0});
    if (x >= 1.5 && x <= 2.5)
        return near_2(x - 2.0);
    if (x >= 0.5 && x < 1.5)
        return near_1(x - 1.0);
    if (x < 0.5)
        return pair_add(near_1(x), pair_negative(logarithm((pair){x, 0.0})));
    y = raised(x, &product, &below);
    return pair_add(stirling(y), pair_negative(logarithm(pair_scale(product, scalbn(1.0, below)))));
}

double lgamma(double x)
{
    double sine;
    pair result;

    signgam = 1;
    if (isnan(x) || isinf(x))
        return isnan(x) ? x + x : (double)INFINITY;
    if (x == 0.0)
        signgam = signbit(x) ? -1 : 1;
    if (x <= 0.0 && x == floor(x))
        return (double)INFINITY;
    if (fabs(x) < 0x1p-60) {
        signgam = x < 0.0 ? -1 : 1;
        return -log(fabs(x));
    }
    if (x > 2.6e305)
        return (double)INFINITY;
    if (x > 0.0) {
        result = positive(x);
        return result.high + result.low;
    }
    /* gamma(x) gamma(-x) = -pi / (x sin(pi x)) */
    sine = sin(3.14159265358979324 * (x - rint(x)));
    if (fmod(floor(x), 2.0) != 0.0)
        signgam = -1;
    result = pair_add(ln_pi, pair_negative(logarithm(pair_of_product(fabs(sine), -x))));
    result = pair_add(result, pair_negative(positive(-x)));
    return result.high + result.low;
}
