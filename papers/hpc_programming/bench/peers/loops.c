/* SPDX-License-Identifier: Apache-2.0 */
/* Loops: what a user gets who writes the plain loop and asks the compiler for everything
 * (-O3 -march=native -ffast-math). Built by tools/peers.sh, never part of okosu. */
#include <stddef.h>

double loops_dsum(const double *x, size_t n);
double loops_dsumsq(const double *x, size_t n);
double loops_dasum(const double *x, size_t n);
double loops_ddot(const double *x, const double *y, size_t n);
double loops_dnrm2(const double *x, size_t n);
void loops_daxpy(double a, const double *x, double *y, size_t n);
void loops_dscal(double a, double *x, size_t n);
void loops_dtriad(double a, const double *b, const double *c, double *out, size_t n);

double loops_dsum(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double loops_dsumsq(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

double loops_dasum(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += __builtin_fabs(x[i]);
    return sum;
}

double loops_ddot(const double *x, const double *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Not safe against overflow, as such loops are. */
double loops_dnrm2(const double *x, size_t n)
{
    return __builtin_sqrt(loops_dsumsq(x, n));
}

void loops_daxpy(double a, const double *x, double *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

void loops_dscal(double a, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= a;
}

void loops_dtriad(double a, const double *b, const double *c, double *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = b[i] + a * c[i];
}
