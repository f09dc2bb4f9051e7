/* SPDX-License-Identifier: Apache-2.0 */
/* The functions whose results are exact or correctly rounded, without floating-point exceptions and
 * without errno. Not there: powers, logarithms, and trigonometric and hyperbolic functions. */
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
#define M_E 2.71828182845904523536
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880

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

#endif
