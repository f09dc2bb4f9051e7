/* SPDX-License-Identifier: Apache-2.0 */
/* Logarithms, powers, trigonometry, gamma, remainders: of each function the bits of its results for
 * some operands, in one sum, which must be the same wherever the same code runs on IEEE 754
 * doubles. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t mixed(uint64_t sum, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    sum = (sum ^ (value != value ? 1 : bits)) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 31;
}

static const double operands[] = {0.03125, 0.7, -0.9, 2.5, -100.25, 0x1.8p600};

#define ONE(name)                                                                                  \
    {                                                                                              \
#name, name                                                                                \
    }
static const struct {
    const char *name;
    double (*of)(double);
} ones[] = {ONE(exp),  ONE(exp2), ONE(expm1),  ONE(log),   ONE(log2),  ONE(log10), ONE(log1p),
            ONE(cbrt), ONE(sinh), ONE(cosh),   ONE(tanh),  ONE(asinh), ONE(acosh), ONE(atanh),
            ONE(sin),  ONE(cos),  ONE(tan),    ONE(asin),  ONE(acos),  ONE(atan),  ONE(erf),
            ONE(erfc), ONE(logb), ONE(tgamma), ONE(lgamma)};

int main(void)
{
    enum { OPERANDS = sizeof(operands) / sizeof(*operands) };
    uint64_t power = 0, side = 0, angle = 0, rest = 0, fused = 0;

    for (unsigned f = 0; f < sizeof(ones) / sizeof(*ones); f++) {
        uint64_t sum = 0;

        for (int k = 0; k < OPERANDS; k++)
            sum = mixed(sum, ones[f].of(operands[k]));
        printf("%s %016" PRIx64 "\n", ones[f].name, sum);
    }
    for (int k = 0; k < OPERANDS; k++) {
        double x = operands[k], y = operands[(k + 2) % OPERANDS];

        power = mixed(power, pow(fabs(x), y));
        side = mixed(side, hypot(x, y));
        angle = mixed(angle, atan2(x, y));
        rest = mixed(mixed(rest, remainder(x, y)), nextafter(x, y));
        fused = mixed(fused, fma(x, y, -x * y));
    }
    printf("pow %016" PRIx64 "\nhypot %016" PRIx64 "\natan2 %016" PRIx64 "\n", power, side, angle);
    printf("remainder %016" PRIx64 "\nfma %016" PRIx64 "\nok\n", rest, fused);
    return 0;
}
