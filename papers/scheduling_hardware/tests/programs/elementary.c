/* SPDX-License-Identifier: Apache-2.0 */
/* The elementary functions of sw/posix, whose names begin with sw_ here, beside those of long double of
 * this machine's libc: for each the largest error that was found in units of the last place, and whether
 * special operands give what libc gives.
 *
 *   elementary COUNT */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = 1;

static uint64_t random_word(void)
{
    /* splitmix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators",
     * OOPSLA 2014. */
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double uniform(double low, double high)
{
    return low + (high - low) * (double)(random_word() >> 11) * 0x1p-53;
}

/* Of any size up to 2^most, down to 2^least. */
static double any(int least, int most)
{
    double value =
        scalbn(uniform(1.0, 2.0), least + (int)(random_word() % (unsigned)(most - least)));

    return random_word() & 1 ? value : -value;
}

/* An operand, of the range in which the function is hard, or of all. */
static double operand(double low, double high)
{
    switch (random_word() % 4) {
    case 0:
        return any(-1022, 1023);
    case 1:
        return any(-30, 3);
    case 2:
        return 1.0 + any(-52, -1);
    default:
        return uniform(low, high);
    }
}

static double error_of(double found, long double right)
{
    double rounded = (double)right;
    int exponent;

    if (isnan(found) || isnan(rounded))
        return isnan(found) && isnan(rounded) ? 0.0 : HUGE_VAL;
    if (found == rounded)
        return 0.0;
    if (isinf(found) || isinf(rounded))
        return HUGE_VAL;
    frexpl(right, &exponent);
    if (exponent < -1021)
        exponent = -1021;
    return (double)fabsl(((long double)found - right) / ldexpl(1.0L, exponent - 53));
}

static const double specials[] = {
    0.0,    0.5,   1.0,    1.5,       2.0,     3.0,     4.0,
    10.0,   1e300, 1e-300, 0x1p-1074, DBL_MAX, DBL_MIN, HUGE_VAL,
    709.78, 745.0, 1024.0, 1074.0,    0x1p52,  0x1p53,  9007199254740993.0};

static int same(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (a == 0.0 || b == 0.0 || isinf(a) || isinf(b))
        return a == b && !signbit(a) == !signbit(b);
    return fabs(a - b) <= fabs(b) * 3e-16 || fabs(a - b) <= 0x1p-1074;
}

struct one {
    const char *name;
    double (*ours)(double), (*theirs)(double);
    long double (*precise)(long double);
    double low, high;
};
struct two {
    const char *name;
    double (*ours)(double, double), (*theirs)(double, double);
    long double (*precise)(long double, long double);
    double low, high;
};
#define NAMES(of)                                                                                  \
    of(exp, -745, 710) of(exp2, -1074, 1024) of(expm1, -40, 40) of(log, 0, 3) of(log2, 0, 3)       \
        of(log10, 0, 1000) of(log1p, -1, 2) of(cbrt, -9, 9) of(sinh, -711, 711)                    \
            of(cosh, -711, 711) of(tanh, -20, 20) of(asinh, -9, 9) of(acosh, 1, 3)                 \
                of(atanh, -1, 1) of(sin, -100, 100) of(cos, -100, 100) of(tan, -100, 100)          \
                    of(asin, -1, 1) of(acos, -1, 1) of(atan, -9, 9) of(erf, -3, 7)                 \
                        of(erfc, -7, 28) of(tgamma, -185, 172)
#define DECLARE(name, low, high) double sw_##name(double);
#define ROW(name, low, high) {#name, sw_##name, name, name##l, low, high},
NAMES(DECLARE)
double sw_pow(double, double), sw_hypot(double, double), sw_atan2(double, double);
double sw_lgamma(double), sw_remainder(double, double), sw_nextafter(double, double);
double sw_remquo(double, double, int *), sw_fma(double, double, double), sw_logb(double);
float sw_fmaf(float, float, float), sw_nextafterf(float, float);
int sw_ilogb(double);
extern int sw_signgam;

/* Below 0 it has zeros, near which nothing but the error beside 1 can be promised. */
static double lgamma_above(double x)
{
    return sw_lgamma(fabs(x));
}

static double libc_lgamma_above(double x)
{
    return lgamma(fabs(x));
}

static long double lgammal_above(long double x)
{
    return lgammal(fabsl(x));
}

static const struct one ones[] = {
    NAMES(ROW){"lgamma", lgamma_above, libc_lgamma_above, lgammal_above, 0, 40}};
static const struct two twos[] = {{"pow", sw_pow, pow, powl, -40, 40},
                                  {"hypot", sw_hypot, hypot, hypotl, -9, 9},
                                  {"atan2", sw_atan2, atan2, atan2l, -9, 9}};

enum { SPECIALS = sizeof(specials) / sizeof(*specials) };

static double special(int k)
{
    if (k == 2 * SPECIALS)
        return NAN;
    return k < SPECIALS ? specials[k] : -specials[k - SPECIALS];
}

static void differs(const char *name, double x, double y, double ours, double theirs)
{
    printf("%s(%a, %a) is %a, not %a\n", name, x, y, ours, theirs);
}

/* A number of which special ones, and neighbours of what is given, are a good part. */
static double exact_operand(double near)
{
    switch (random_word() % 8) {
    case 0:
        return special((int)(random_word() % (2 * SPECIALS + 1)));
    case 1:
        return nextafter(near, any(0, 1));
    case 2:
        return near * (double)(random_word() % 32);
    case 3:
        return any(-1074, -1000);
    case 4:
        return any(-30, 30);
    default:
        return any(-1074, 1023);
    }
}

static int is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

/* What is exact has to be the same to the last bit. */
static void exact(long count)
{
    for (long n = 0; n < count; n++) {
        double x = exact_operand(1.0), y = exact_operand(x), z = exact_operand(-x * y);
        float a = (float)any(-149, 127), b = (float)any(-30, 30), c = -a * b;
        double ours = sw_remainder(x, y), theirs = remainder(x, y);
        int quotient, other;

        /* C17, F.10.7.2: a remainder of 0 has the sign of x. glibc 2.36 forgets that where y is
         * subnormal. */
        if (!is_same(ours, theirs == 0.0 ? copysign(0.0, x) : theirs))
            differs("remainder", x, y, ours, theirs);
        sw_remquo(x, y, &quotient);
        remquo(x, y, &other);
        if (!isnan(theirs) && (quotient & 7) != (other & 7))
            differs("remquo", x, y, quotient, other);
        if (!is_same(ours = sw_nextafter(x, y), theirs = nextafter(x, y)))
            differs("nextafter", x, y, ours, theirs);
        if (!is_same(ours = sw_nextafterf(a, b), theirs = nextafterf(a, b)))
            differs("nextafterf", a, b, ours, theirs);
        if (!is_same(ours = sw_logb(x), theirs = logb(x)))
            differs("logb", x, 0.0, ours, theirs);
        if (isfinite(x) && sw_ilogb(x) != ilogb(x))
            differs("ilogb", x, 0.0, sw_ilogb(x), ilogb(x));
        if (!is_same(ours = sw_fma(x, y, z), theirs = fma(x, y, z)))
            differs("fma", x, y, ours, theirs), printf(" with %a\n", z);
        c = random_word() % 2 ? nextafterf(c, 0.0f) : (float)any(-149, 127);
        if (!is_same(ours = sw_fmaf(a, b, c), theirs = fmaf(a, b, c)))
            differs("fmaf", a, b, ours, theirs);
        x = uniform(-60, 0);
        ours = sw_lgamma(x);
        theirs = lgamma(x);
        if (fabs(ours - theirs) > 0x1p-50 * (1.0 + fabs(theirs)) || sw_signgam != signgam)
            differs("lgamma", x, 0.0, ours, theirs);
    }
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 100000;

    exact(count);

    for (size_t f = 0; f < sizeof(ones) / sizeof(*ones); f++) {
        const struct one *of = &ones[f];
        double most = 0.0, at = 0.0;

        for (int k = 0; k <= 2 * SPECIALS; k++) {
            double x = special(k), ours = of->ours(x), theirs = of->theirs(x);

            if (!same(ours, theirs))
                differs(of->name, x, 0.0, ours, theirs);
        }
        for (long n = 0; n < count; n++) {
            double x = operand(of->low, of->high), error = error_of(of->ours(x), of->precise(x));

            if (error > most)
                most = error, at = x;
        }
        printf("%-6s %.3f %a\n", of->name, most, at);
    }
    for (size_t f = 0; f < sizeof(twos) / sizeof(*twos); f++) {
        const struct two *of = &twos[f];
        double most = 0.0, at = 0.0, at_other = 0.0;

        for (int k = 0; k <= 2 * SPECIALS; k++) {
            for (int m = 0; m <= 2 * SPECIALS; m++) {
                double x = special(k), y = special(m), ours = of->ours(x, y),
                       theirs = of->theirs(x, y);

                if (!same(ours, theirs))
                    differs(of->name, x, y, ours, theirs);
            }
        }
        for (long n = 0; n < count; n++) {
            double x = operand(of->low, of->high), y = operand(of->low, of->high), error;

            /* Few powers of large numbers are finite. */
            if (of->ours == sw_pow && random_word() % 2)
                x = fabs(x), y = uniform(-700, 700) / log(x);
            error = error_of(of->ours(x, y), of->precise(x, y));
            if (error > most)
                most = error, at = x, at_other = y;
        }
        printf("%-6s %.3f %a %a\n", of->name, most, at, at_other);
    }
    return 0;
}
