/* SPDX-License-Identifier: Apache-2.0 */
/* Double precision in software, IEEE 754 with rounding to nearest even; there is no floating-point
 * unit and no libgcc. Exact for all finite numbers, infinities and NaN; a NaN that comes out is
 * always the same one. */
#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

union number {
    double value;
    uint64_t bits;
};

enum { BIAS = 1023, MOST_EXPONENT = 0x7ff, FRACTION_BITS = 52, EXTRA_BITS = 3 };

#define NOT_A_NUMBER UINT64_C(0x7ff8000000000000)
#define INFINITE UINT64_C(0x7ff0000000000000)
#define SIGN UINT64_C(0x8000000000000000)
#define HIDDEN (UINT64_C(1) << FRACTION_BITS)

double __adddf3(double left, double right);
double __subdf3(double left, double right);
double __muldf3(double left, double right);
double __divdf3(double left, double right);
double __negdf2(double value);
double __floatsidf(int32_t value);
double __floatunsidf(uint32_t value);
double __floatdidf(int64_t value);
double __floatundidf(uint64_t value);
int32_t __fixdfsi(double value);
uint32_t __fixunsdfsi(double value);
int64_t __fixdfdi(double value);
uint64_t __fixunsdfdi(double value);
int __eqdf2(double left, double right);
int __nedf2(double left, double right);
int __ltdf2(double left, double right);
int __ledf2(double left, double right);
int __gtdf2(double left, double right);
int __gedf2(double left, double right);
int __unorddf2(double left, double right);

static IN_LIB uint64_t bits_of(double value)
{
    return (union number){.value = value}.bits;
}

static IN_LIB double from_bits(uint64_t bits)
{
    return (union number){.bits = bits}.value;
}

static IN_LIB bool is_nan(uint64_t bits)
{
    return (bits & ~SIGN) > INFINITE;
}

/* Shift right by `by`; bits that are shifted out set the lowest bit, so that rounding takes them
 * into account. */
static IN_LIB uint64_t shift_sticky(uint64_t value, int by)
{
    if (by >= 64)
        return value != 0;
    if (by == 0)
        return value;
    return value >> by | (value << (64 - by) != 0);
}

/* The fraction with its hidden bit, normalised, and the exponent that goes with it. Not for 0. */
static IN_LIB uint64_t unpack(uint64_t bits, int *exponent)
{
    uint64_t fraction = bits & (HIDDEN - 1);

    *exponent = (int)(bits >> FRACTION_BITS & MOST_EXPONENT);
    if (*exponent != 0)
        return fraction | HIDDEN;
    for (*exponent = 1; (fraction & HIDDEN) == 0; (*exponent)--)
        fraction <<= 1;
    return fraction;
}

/* sign, exponent and a fraction with EXTRA_BITS behind it, in any position, rounded and put
 * together. */
static IN_LIB double pack(uint64_t sign, int exponent, uint64_t fraction)
{
    uint64_t rest;

    if (fraction == 0)
        return from_bits(sign);
    for (; fraction >> (FRACTION_BITS + EXTRA_BITS + 1) != 0; exponent++)
        fraction = shift_sticky(fraction, 1);
    for (; fraction >> (FRACTION_BITS + EXTRA_BITS) == 0; exponent--)
        fraction <<= 1;
    if (exponent < 1) {
        fraction = shift_sticky(fraction, 1 - exponent);
        exponent = 0;
    }
    rest = fraction & 7;
    fraction >>= EXTRA_BITS;
    if (rest > 4 || (rest == 4 && (fraction & 1) != 0))
        fraction++;
    /* A carry out of the fraction is one more in the exponent, as it should be. */
    if (exponent > 0)
        fraction += (uint64_t)(exponent - 1) << FRACTION_BITS;
    if (exponent >= MOST_EXPONENT || fraction >= INFINITE)
        fraction = INFINITE;
    return from_bits(sign | fraction);
}

IN_LIB double __adddf3(double left, double right)
{
    uint64_t a = bits_of(left), b = bits_of(right), fraction_a, fraction_b, sign;
    int exponent_a, exponent_b;

    if (is_nan(a) || is_nan(b) || ((a & ~SIGN) == INFINITE && (b ^ SIGN) == a))
        return from_bits(NOT_A_NUMBER);
    if ((a & ~SIGN) < (b & ~SIGN)) {
        uint64_t larger = b;

        b = a;
        a = larger;
    }
    if ((b & ~SIGN) == 0)
        return from_bits((a & ~SIGN) == 0 ? a & b : a);
    if ((a & ~SIGN) == INFINITE)
        return from_bits(a);
    sign = a & SIGN;
    fraction_a = unpack(a, &exponent_a) << EXTRA_BITS;
    fraction_b = unpack(b, &exponent_b) << EXTRA_BITS;
    fraction_b = shift_sticky(fraction_b, exponent_a - exponent_b);
    if (((a ^ b) & SIGN) == 0)
        return pack(sign, exponent_a, fraction_a + fraction_b);
    fraction_a -= fraction_b;
    return pack(fraction_a == 0 ? 0 : sign, exponent_a, fraction_a);
}

IN_LIB double __negdf2(double value)
{
    return from_bits(bits_of(value) ^ SIGN);
}

IN_LIB double __subdf3(double left, double right)
{
    return __adddf3(left, __negdf2(right));
}

/* The upper 64 bits of a product of 128, the lowest of them set if anything is below. */
static IN_LIB uint64_t multiply_high(uint64_t left, uint64_t right)
{
    uint64_t low = (left & UINT32_MAX) * (right & UINT32_MAX);
    uint64_t middle_a = (left >> 32) * (right & UINT32_MAX);
    uint64_t middle_b = (left & UINT32_MAX) * (right >> 32);
    uint64_t middle = (low >> 32) + (middle_a & UINT32_MAX) + (middle_b & UINT32_MAX);

    return ((left >> 32) * (right >> 32) + (middle_a >> 32) + (middle_b >> 32) + (middle >> 32)) |
           (((uint32_t)low | (uint32_t)middle) != 0);
}

IN_LIB double __muldf3(double left, double right)
{
    uint64_t a = bits_of(left), b = bits_of(right), sign = (a ^ b) & SIGN, fraction;
    int exponent_a, exponent_b;

    if (is_nan(a) || is_nan(b))
        return from_bits(NOT_A_NUMBER);
    a &= ~SIGN;
    b &= ~SIGN;
    if (a == INFINITE || b == INFINITE)
        return from_bits(a == 0 || b == 0 ? NOT_A_NUMBER : sign | INFINITE);
    if (a == 0 || b == 0)
        return from_bits(sign);
    fraction = unpack(a, &exponent_a) << 11;
    /* 63 + 55 - 64: the product's hidden bit comes to where EXTRA_BITS are behind the fraction,
     * less one. */
    fraction = multiply_high(fraction, unpack(b, &exponent_b) << EXTRA_BITS);
    return pack(sign, exponent_a + exponent_b - BIAS + 1, fraction);
}

IN_LIB double __divdf3(double left, double right)
{
    uint64_t a = bits_of(left), b = bits_of(right), sign = (a ^ b) & SIGN;
    uint64_t rest, divisor, quotient = 0;
    int exponent_a, exponent_b;

    if (is_nan(a) || is_nan(b))
        return from_bits(NOT_A_NUMBER);
    a &= ~SIGN;
    b &= ~SIGN;
    if (a == INFINITE)
        return from_bits(b == INFINITE ? NOT_A_NUMBER : sign | INFINITE);
    if (b == 0)
        return from_bits(a == 0 ? NOT_A_NUMBER : sign | INFINITE);
    if (b == INFINITE || a == 0)
        return from_bits(sign);
    rest = unpack(a, &exponent_a);
    divisor = unpack(b, &exponent_b);
    for (int bit = FRACTION_BITS + EXTRA_BITS; bit >= 0; bit--) {
        quotient <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
        rest <<= 1;
    }
    return pack(sign, exponent_a - exponent_b + BIAS, quotient | (rest != 0));
}

IN_LIB double __floatundidf(uint64_t value)
{
    int exponent = BIAS + FRACTION_BITS;

    /* Room for the bits behind the fraction. */
    if (value >> (64 - EXTRA_BITS) != 0) {
        value = shift_sticky(value, EXTRA_BITS);
        exponent += EXTRA_BITS;
    }
    return pack(0, exponent, value << EXTRA_BITS);
}

IN_LIB double __floatdidf(int64_t value)
{
    return value < 0 ? __negdf2(__floatundidf(-(uint64_t)value)) : __floatundidf((uint64_t)value);
}

IN_LIB double __floatunsidf(uint32_t value)
{
    return __floatundidf(value);
}

IN_LIB double __floatsidf(int32_t value)
{
    return __floatdidf(value);
}

/* Towards 0; the C standard says nothing of values that do not fit. */
IN_LIB uint64_t __fixunsdfdi(double value)
{
    uint64_t bits = bits_of(value), fraction = (bits & (HIDDEN - 1)) | HIDDEN;
    int exponent = (int)(bits >> FRACTION_BITS & MOST_EXPONENT) - BIAS;

    if (exponent < 0 || bits >> 63 != 0)
        return 0;
    if (exponent > 63)
        return UINT64_MAX;
    return exponent > FRACTION_BITS ? fraction << (exponent - FRACTION_BITS)
                                    : fraction >> (FRACTION_BITS - exponent);
}

IN_LIB int64_t __fixdfdi(double value)
{
    uint64_t magnitude = __fixunsdfdi(from_bits(bits_of(value) & ~SIGN));

    return (int64_t)(bits_of(value) >> 63 != 0 ? -magnitude : magnitude);
}

IN_LIB uint32_t __fixunsdfsi(double value)
{
    return (uint32_t)__fixunsdfdi(value);
}

IN_LIB int32_t __fixdfsi(double value)
{
    return (int32_t)__fixdfdi(value);
}

IN_LIB int __unorddf2(double left, double right)
{
    return is_nan(bits_of(left)) || is_nan(bits_of(right));
}

/* -1, 0, 1, or `unordered` if one is NaN. */
static IN_LIB int compare(double left, double right, int unordered)
{
    uint64_t a = bits_of(left), b = bits_of(right);

    if (is_nan(a) || is_nan(b))
        return unordered;
    /* Numbers of one sign are in the order of their bits; -0 is 0. */
    a = a >> 63 != 0 ? SIGN - (a & ~SIGN) : a | SIGN;
    b = b >> 63 != 0 ? SIGN - (b & ~SIGN) : b | SIGN;
    return a < b ? -1 : a > b;
}

IN_LIB int __eqdf2(double left, double right)
{
    return compare(left, right, 1);
}

IN_LIB int __nedf2(double left, double right)
{
    return compare(left, right, 1);
}

IN_LIB int __ltdf2(double left, double right)
{
    return compare(left, right, 1);
}

IN_LIB int __ledf2(double left, double right)
{
    return compare(left, right, 1);
}

IN_LIB int __gtdf2(double left, double right)
{
    return compare(left, right, -1);
}

IN_LIB int __gedf2(double left, double right)
{
    return compare(left, right, -1);
}
