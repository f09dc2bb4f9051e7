/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler calls for 64-bit integers and for doubles, over random and extreme operands,
 * and what printf makes of them: one sum for each operation, which must be the same on every
 * machine. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 60 };

static uint64_t state = 1;

static uint64_t random_word(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state ^ state >> 29;
}

static uint64_t integer(void)
{
    static const uint64_t extremes[] = {
        0, 1, 2, UINT32_MAX, UINT64_C(1) << 32, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    uint64_t word = random_word();

    return word % 8 == 0 ? extremes[word / 8 % 8] : random_word() >> (word / 8 % 64);
}

static double from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t to_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return value != value ? 1 : bits;
}

static double number(void)
{
    static const uint64_t extremes[] = {0,
                                        UINT64_C(0x8000000000000000),
                                        1,
                                        UINT64_C(0x000fffffffffffff),
                                        UINT64_C(0x0010000000000000),
                                        UINT64_C(0x7fefffffffffffff),
                                        UINT64_C(0x7ff0000000000000),
                                        UINT64_C(0x7ff8000000000000)};
    uint64_t word = random_word();

    if (word % 8 == 0)
        return from_bits(extremes[word / 8 % 8]);
    /* Near to each other as often as not, so that sums round and cancel. */
    return word % 8 < 5 ? (double)(int64_t)integer() : from_bits(random_word());
}

static void mix(uint64_t *sum, uint64_t value)
{
    *sum = (*sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *sum ^= *sum >> 31;
}

static void integers(void)
{
    uint64_t product = 0, quotient = 0, rest = 0, shifted = 0;

    for (int at = 0; at < PAIRS; at++) {
        uint64_t a = integer(), b = integer();
        int by = (int)(random_word() % 64);

        mix(&product, a * b);
        mix(&shifted, (a << by) ^ (b >> by) ^ (uint64_t)((int64_t)a >> by));
        mix(&shifted, a != 0 ? (uint64_t)__builtin_clzll(a) : 64);
        if (b == 0)
            continue;
        mix(&quotient, a / b);
        mix(&rest, a % b);
        if (b != UINT64_MAX) {
            mix(&quotient, (uint64_t)((int64_t)a / (int64_t)b));
            mix(&rest, (uint64_t)((int64_t)a % (int64_t)b));
        }
    }
    printf("* %016" PRIx64 " / %016" PRIx64 " %% %016" PRIx64 " shifts %016" PRIx64 "\n", product,
           quotient, rest, shifted);
}

static void doubles(void)
{
    uint64_t sums[4] = {0}, converted = 0, compared = 0;

    for (int at = 0; at < PAIRS; at++) {
        double a = number(), b = number();

        mix(&sums[0], to_bits(a + b));
        mix(&sums[1], to_bits(a - b));
        mix(&sums[2], to_bits(a * b));
        mix(&sums[3], to_bits(a / b));
        mix(&compared, (unsigned)(a < b) | (unsigned)(a <= b) << 1 | (unsigned)(a > b) << 2 |
                           (unsigned)(a >= b) << 3 | (unsigned)(a == b) << 4 |
                           (unsigned)(a != b) << 5);
        mix(&converted, to_bits((double)integer()));
        mix(&converted, to_bits((double)(int32_t)integer()));
        if (a > -9e18 && a < 9e18)
            mix(&converted, (uint64_t)(int64_t)a);
    }
    printf("+ %016" PRIx64 " - %016" PRIx64 " * %016" PRIx64 " / %016" PRIx64 "\n", sums[0],
           sums[1], sums[2], sums[3]);
    printf("conversions %016" PRIx64 " comparisons %016" PRIx64 "\n", converted, compared);
}

static void texts(void)
{
    char *end;
    unsigned long hexadecimal = strtoul("0x1fz", &end, 0);

    printf("[%5d] [%-5d] [%05d] [%+d] [% d] [%.3d] [%x] [%#X] [%o] [%c] [%10.3s] [%%]\n", 42, -42,
           -42, 42, 42, 7, 255u, 255u, 8u, 'x', "abcdef");
    printf("[%lld] [%llu] [%hhd] [%hu] [%zu] [%*d] [%-*d]\n", (long long)INT64_MIN,
           (unsigned long long)UINT64_MAX, (signed char)200, (unsigned short)70000, (size_t)5, 6, 1,
           6, 2);
    printf("[%#o] [%#o] [%#05o] [%#3o] [%#.0o] [%#.4o] [%-#6o]\n", 0, 8, 1, 127, 0, 8, 9);
    printf("[%.2f] [%f] [%8.3f] [%-8.1f] [%.0f] [%06.2f]\n", 3.14159, -0.5, 2.0, 1.25, 1e6, -1.5);
    printf("%lu %lld %llu %d\n", hexadecimal, strtoll(" -077", NULL, 0),
           strtoull("18446744073709551615", NULL, 10), *end);
}

int main(void)
{
    integers();
    doubles();
    texts();
    puts("ok");
    return 0;
}
