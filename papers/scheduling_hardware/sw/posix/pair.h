/* SPDX-License-Identifier: Apache-2.0 */
/* A number as the unevaluated sum of two doubles, the second at most half a unit in the last place
 * of the first: about 106 bits (T. J. Dekker, "A floating-point technique for extending the
 * available precision", Numerische Mathematik 18, 1971). Nothing here may overflow, or underflow
 * where the low part matters; callers scale their numbers. */
#ifndef PAIR_H
#define PAIR_H

typedef struct {
    double high, low;
} pair;

/* Exact, if |a| >= |b| or a is 0. */
static inline pair pair_of_ordered(double a, double b)
{
    double sum = a + b;

    return (pair){sum, b - (sum - a)};
}

/* Exact. */
static inline pair pair_of_sum(double a, double b)
{
    double sum = a + b, of_b = sum - a;

    return (pair){sum, (a - (sum - of_b)) + (b - of_b)};
}

/* The upper 26 bits. */
static inline double pair_upper(double x)
{
    double shifted = x * 134217729.0;

    return shifted - (shifted - x);
}

/* Exact. */
static inline pair pair_of_product(double a, double b)
{
    double product = a * b, upper_a = pair_upper(a), upper_b = pair_upper(b);
    double lower_a = a - upper_a, lower_b = b - upper_b;

    return (pair){product, ((upper_a * upper_b - product) + upper_a * lower_b + lower_a * upper_b) +
                               lower_a * lower_b};
}

static inline pair pair_add(pair a, pair b)
{
    pair high = pair_of_sum(a.high, b.high), low = pair_of_sum(a.low, b.low);

    high = pair_of_ordered(high.high, high.low + low.high);
    return pair_of_ordered(high.high, high.low + low.low);
}

static inline pair pair_negative(pair a)
{
    return (pair){-a.high, -a.low};
}

static inline pair pair_multiply(pair a, pair b)
{
    pair product = pair_of_product(a.high, b.high);

    return pair_of_ordered(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static inline pair pair_divide(pair a, pair b)
{
    double first = a.high / b.high;
    pair product = pair_multiply((pair){first, 0.0}, b);
    pair rest = pair_add(a, pair_negative(product));

    return pair_of_ordered(first, rest.high / b.high);
}

/* A power of two as the factor: exact. */
static inline pair pair_scale(pair a, double power)
{
    return (pair){a.high * power, a.low * power};
}

/* Of a positive number. */
static inline pair pair_root(pair a)
{
    double first = __builtin_sqrt(a.high);
    pair rest = pair_add(a, pair_negative(pair_of_product(first, first)));

    return pair_of_ordered(first, rest.high / (2.0 * first));
}

#endif
