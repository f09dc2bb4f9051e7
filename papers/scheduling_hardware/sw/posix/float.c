/* SPDX-License-Identifier: Apache-2.0 */
/* Single precision in software, by double precision: with 53 bits, which are more than twice 24 and
 * two, a sum, product or quotient that is rounded twice is the one that is rounded once. Calls are
 * written out, for the compiler would make them operations of single precision again. */
#include <stdbool.h>
#include <stdint.h>

union single {
    float value;
    uint32_t bits;
};

union number {
    double value;
    uint64_t bits;
};

enum { BIAS = 127, FRACTION = 23, MOST_EXPONENT = 0xff };
enum { DOUBLE_BIAS = 1023, DOUBLE_FRACTION = 52, DOUBLE_MOST_EXPONENT = 0x7ff };

#define SIGN UINT32_C(0x80000000)
#define INFINITE UINT32_C(0x7f800000)
#define NOT_A_NUMBER UINT32_C(0x7fc00000)

double __adddf3(double left, double right);
double __subdf3(double left, double right);
double __muldf3(double left, double right);
double __divdf3(double left, double right);
double __floatsidf(int32_t value);
double __floatunsidf(uint32_t value);
double __floatundidf(uint64_t value);
int32_t __fixdfsi(double value);
uint32_t __fixunsdfsi(double value);
int64_t __fixdfdi(double value);
uint64_t __fixunsdfdi(double value);
double __extendsfdf2(float value);
float __truncdfsf2(double value);
float __addsf3(float left, float right);
float __subsf3(float left, float right);
float __mulsf3(float left, float right);
float __divsf3(float left, float right);
float __negsf2(float value);
float __floatsisf(int32_t value);
float __floatunsisf(uint32_t value);
float __floatdisf(int64_t value);
float __floatundisf(uint64_t value);
int32_t __fixsfsi(float value);
uint32_t __fixunssfsi(float value);
int64_t __fixsfdi(float value);
uint64_t __fixunssfdi(float value);
int __eqsf2(float left, float right);
int __nesf2(float left, float right);
int __ltsf2(float left, float right);
int __lesf2(float left, float right);
int __gtsf2(float left, float right);
int __gesf2(float left, float right);
int __unordsf2(float left, float right);

double __extendsfdf2(float value)
{
    uint32_t bits = (union single){.value = value}.bits, fraction = bits & ((1u << FRACTION) - 1);
    int exponent = (int)(bits >> FRACTION & MOST_EXPONENT);
    uint64_t sign = (uint64_t)(bits & SIGN) << 32;

    if (exponent == MOST_EXPONENT)
        exponent = DOUBLE_MOST_EXPONENT;
    else if (exponent != 0)
        exponent += DOUBLE_BIAS - BIAS;
    else if (fraction != 0) {
        /* Not normalised, which it is in double precision. */
        for (exponent = 1 + DOUBLE_BIAS - BIAS; (fraction & 1u << FRACTION) == 0; exponent--)
            fraction <<= 1;
        fraction &= (1u << FRACTION) - 1;
    }
    return (union number){.bits = sign | (uint64_t)exponent << DOUBLE_FRACTION |
                                  (uint64_t)fraction << (DOUBLE_FRACTION - FRACTION)}
        .value;
}

float __truncdfsf2(double value)
{
    uint64_t bits = (union number){.value = value}.bits;
    uint64_t fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION) - 1), rest, half;
    int exponent = (int)(bits >> DOUBLE_FRACTION & DOUBLE_MOST_EXPONENT);
    uint32_t sign = (uint32_t)(bits >> 32) & SIGN, result;
    int drop = DOUBLE_FRACTION - FRACTION;

    if (exponent == DOUBLE_MOST_EXPONENT)
        return (union single){.bits = fraction != 0 ? NOT_A_NUMBER : sign | INFINITE}.value;
    exponent -= DOUBLE_BIAS - BIAS;
    if (exponent >= MOST_EXPONENT)
        return (union single){.bits = sign | INFINITE}.value;
    /* A result that is not normalised loses more bits; far below all of them. */
    if (exponent < 1) {
        if (exponent < -FRACTION - 1)
            return (union single){.bits = sign}.value;
        fraction |= UINT64_C(1) << DOUBLE_FRACTION;
        drop += 1 - exponent;
        exponent = 0;
    }
    rest = fraction & ((UINT64_C(1) << drop) - 1);
    half = UINT64_C(1) << (drop - 1);
    result = (uint32_t)(fraction >> drop) + ((uint32_t)exponent << FRACTION);
    /* A carry out of the fraction is one more in the exponent, as it should be. */
    if (rest > half || (rest == half && (result & 1) != 0))
        result++;
    return (union single){.bits = sign | result}.value;
}

float __addsf3(float left, float right)
{
    return __truncdfsf2(__adddf3(__extendsfdf2(left), __extendsfdf2(right)));
}

float __subsf3(float left, float right)
{
    return __truncdfsf2(__subdf3(__extendsfdf2(left), __extendsfdf2(right)));
}

float __mulsf3(float left, float right)
{
    return __truncdfsf2(__muldf3(__extendsfdf2(left), __extendsfdf2(right)));
}

float __divsf3(float left, float right)
{
    return __truncdfsf2(__divdf3(__extendsfdf2(left), __extendsfdf2(right)));
}

float __negsf2(float value)
{
    return (union single){.bits = (union single){.value = value}.bits ^ SIGN}.value;
}

float __floatsisf(int32_t value)
{
    return __truncdfsf2(__floatsidf(value));
}

float __floatunsisf(uint32_t value)
{
    return __truncdfsf2(__floatunsidf(value));
}

/* Of 64 bits so many are put together into the lowest that double precision holds the rest exactly;
 * where they only decide a rounding, that they are not all 0 is what counts. */
float __floatundisf(uint64_t value)
{
    if (value >> 53 != 0)
        value = (value & ~UINT64_C(0x7ff)) | ((value & 0x7ff) != 0 ? UINT64_C(0x800) : 0);
    return __truncdfsf2(__floatundidf(value));
}

float __floatdisf(int64_t value)
{
    return value < 0 ? __negsf2(__floatundisf(-(uint64_t)value)) : __floatundisf((uint64_t)value);
}

int32_t __fixsfsi(float value)
{
    return __fixdfsi(__extendsfdf2(value));
}

uint32_t __fixunssfsi(float value)
{
    return __fixunsdfsi(__extendsfdf2(value));
}

int64_t __fixsfdi(float value)
{
    return __fixdfdi(__extendsfdf2(value));
}

uint64_t __fixunssfdi(float value)
{
    return __fixunsdfdi(__extendsfdf2(value));
}

static bool is_nan(float value)
{
    return ((union single){.value = value}.bits & ~SIGN) > INFINITE;
}

int __unordsf2(float left, float right)
{
    return is_nan(left) || is_nan(right);
}

/* Below 0, 0, above 0 as of integers; `unordered` for a NaN. */
static int compare(float left, float right, int unordered)
{
    uint32_t a = (union single){.value = left}.bits, b = (union single){.value = right}.bits;

    if (is_nan(left) || is_nan(right))
        return unordered;
    if (((a | b) & ~SIGN) == 0 || a == b)
        return 0;
    if (((a ^ b) & SIGN) != 0)
        return (a & SIGN) != 0 ? -1 : 1;
    return (a < b) == ((a & SIGN) == 0) ? -1 : 1;
}

int __eqsf2(float left, float right)
{
    return compare(left, right, 1);
}

int __nesf2(float left, float right)
{
    return compare(left, right, 1);
}

int __ltsf2(float left, float right)
{
    return compare(left, right, 1);
}

int __lesf2(float left, float right)
{
    return compare(left, right, 1);
}

int __gtsf2(float left, float right)
{
    return compare(left, right, -1);
}

int __gesf2(float left, float right)
{
    return compare(left, right, -1);
}
