/* SPDX-License-Identifier: Apache-2.0 */
/* Without floating-point exceptions and without errno. Exact or correctly rounded are the functions
 * up to fma; the others err by less than one unit in the last place, but for lgamma below 0, which
 * errs by a few, and near its zeros there by 2^-50. Not there: all of long double, which is
 * double (and on RISC-V has 128 bits). */
#ifndef MATH_H
#define MATH_H

typedef float float_t;
typedef double double_t;

#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define FP_ILOGB0 (-2147483647 - 1)
#define FP_ILOGBNAN (-2147483647 - 1)
#define M_E 2.71828182845904523536
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765

#define fpclassify(x) __builtin_fpclassify(FP_NAN, FP_INFINITE, FP_NORMAL, FP_SUBNORMAL, FP_ZERO, x)
#define isfinite(x) __builtin_isfinite(x)
#define isinf(x) __builtin_isinf(x)
#define isnan(x) __builtin_isnan(x)
#define isnormal(x) __builtin_isnormal(x)
#define signbit(x) __builtin_signbit(x)
#define isgreater(x, y) __builtin_isgreater(x, y)
#define isgreaterequal(x, y) __builtin_isgreaterequal(x, y)
#define isless(x, y) __builtin_isless(x, y)
#define islessequal(x, y) __builtin_islessequal(x, y)
#define islessgreater(x, y) __builtin_islessgreater(x, y)
#define isunordered(x, y) __builtin_isunordered(x, y)

double fabs(double x);
double copysign(double x, double sign);
double trunc(double x);
double floor(double x);
double ceil(double x);
/* Halves away from 0. */
double round(double x);
/* Halves to even, which is the only rounding there is. */
double rint(double x);
double nearbyint(double x);
/* A value that does not fit is undefined. */
long lround(double x);
long lrint(double x);
long long llround(double x);
long long llrint(double x);
double modf(double x, double *whole);
double frexp(double x, int *exponent);
double ldexp(double x, int exponent);
double scalbn(double x, int exponent);
double fmod(double x, double y);
double sqrt(double x);
double fmin(double x, double y);
double fmax(double x, double y);
double fdim(double x, double y);
double remainder(double x, double y);
/* *quotient: the last three bits of the quotient, with its sign. */
double remquo(double x, double y, int *quotient);
int ilogb(double x);
double logb(double x);
double scalbln(double x, long exponent);
double nan(const char *tag);
double nextafter(double x, double towards);
#ifndef __riscv
double nexttoward(double x, long double towards);
float nexttowardf(float x, long double towards);
#endif
double fma(double x, double y, double z);

double exp(double x);
double exp2(double x);
double expm1(double x);
double log(double x);
double log2(double x);
double log10(double x);
double log1p(double x);
double pow(double x, double y);
double cbrt(double x);
double hypot(double x, double y);
double sinh(double x);
double cosh(double x);
double tanh(double x);
double asinh(double x);
double acosh(double x);
double atanh(double x);
double sin(double x);
double cos(double x);
double tan(double x);
double asin(double x);
double acos(double x);
double atan(double x);
double atan2(double y, double x);
double erf(double x);
double erfc(double x);
double tgamma(double x);
/* The sign of gamma is left in signgam, which all threads share. */
double lgamma(double x);
extern int signgam;

float fabsf(float x);
float copysignf(float x, float sign);
float truncf(float x);
float floorf(float x);
float ceilf(float x);
float roundf(float x);
float rintf(float x);
float nearbyintf(float x);
float modff(float x, float *whole);
float frexpf(float x, int *exponent);
float ldexpf(float x, int exponent);
float scalbnf(float x, int exponent);
float fmodf(float x, float y);
float sqrtf(float x);
float fminf(float x, float y);
float fmaxf(float x, float y);
float fdimf(float x, float y);
float remainderf(float x, float y);
float remquof(float x, float y, int *quotient);
int ilogbf(float x);
float logbf(float x);
float scalblnf(float x, long exponent);
float nanf(const char *tag);
float nextafterf(float x, float towards);
float fmaf(float x, float y, float z);

float expf(float x);
float exp2f(float x);
float expm1f(float x);
float logf(float x);
float log2f(float x);
float log10f(float x);
float log1pf(float x);
float powf(float x, float y);
float cbrtf(float x);
float hypotf(float x, float y);
float sinhf(float x);
float coshf(float x);
float tanhf(float x);
float asinhf(float x);
float acoshf(float x);
float atanhf(float x);
float sinf(float x);
float cosf(float x);
float tanf(float x);
float asinf(float x);
float acosf(float x);
float atanf(float x);
float atan2f(float y, float x);
float erff(float x);
float erfcf(float x);
float tgammaf(float x);
float lgammaf(float x);

#endif
