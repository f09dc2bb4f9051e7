/* SPDX-License-Identifier: Apache-2.0 */
/* The C library where word by word and byte by byte have to agree, single precision, and what few
 * programs call: one line for each, which must be the same on every machine. */
#include <alloca.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 48, SPAN = 20, PAIRS = 400 };

static uint64_t state = 1;

static uint32_t random_word(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

static uint32_t sum_of(uint32_t sum, uint32_t value)
{
    return (sum ^ value) * 0x01000193u;
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

/* Each length at each place in a word, the other operand likewise. */
static void strings(void)
{
    static char a[ROOM], b[ROOM], c[ROOM];
    uint32_t sums[8] = {0};

    for (unsigned at = 0; at < 4; at++) {
        for (unsigned to = 0; to < 4; to++) {
            for (unsigned length = 0; length <= SPAN; length++) {
                unsigned differs = length > 0 ? random_word() % length : 0;

                memset(a, 'x', sizeof(a));
                memset(b, 'x', sizeof(b));
                memset(a + at, 'a', length);
                a[at + length] = b[to + length] = '\0';
                memcpy(b + to, a + at, length);
                sums[0] = sum_of(sums[0], (uint32_t)strlen(a + at));
                sums[1] = sum_of(sums[1], (uint32_t)strnlen(a + at, length / 2));
                sums[2] = sum_of(sums[2], (uint32_t)sign(strcmp(a + at, b + to)));
                b[to + differs] ^= (char)0x80;
                sums[2] = sum_of(sums[2], (uint32_t)sign(strcmp(a + at, b + to)));
                sums[3] = sum_of(sums[3], (uint32_t)sign(strncmp(a + at, b + to, differs)));
                sums[3] = sum_of(sums[3], (uint32_t)sign(strncmp(a + at, b + to, differs + 1)));
                sums[4] = sum_of(sums[4], (uint32_t)sign(memcmp(a + at, b + to, length)));
                {
                    char *found = memchr(b + to, b[to + differs], length);

                    sums[5] = sum_of(sums[5], found != NULL ? (uint32_t)(found - b) : 99);
                }
                for (unsigned n = 0; n < ROOM; n++)
                    c[n] = (char)n;
                memmove(c + to, c + at, length);
                for (unsigned n = 0; n < ROOM; n++)
                    sums[6] = sum_of(sums[6], (uint32_t)c[n]);
                memmove(c + 8 + at, c + 4 + to, length);
                for (unsigned n = 0; n < ROOM; n++)
                    sums[7] = sum_of(sums[7], (uint32_t)c[n]);
            }
        }
    }
    for (int n = 0; n < 8; n++)
        printf("strings %d %08" PRIx32 "\n", n, sums[n]);
}

static float from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return value != value ? 1 : bits;
}

static float number(void)
{
    static const uint32_t extremes[] = {0,          0x80000000, 1,          0x7fffff,
                                        0x800000,   0x3f800000, 0x7f7fffff, 0x7f800000,
                                        0xff800000, 0x7fc00000, 0x80000001, 0x4b7fffff};
    uint32_t word = random_word();

    if (word % 4 == 0)
        return from_bits(extremes[word / 4 % 12]);
    /* Close to each other, so that sums are neither of them, and products are not normalised. */
    if (word % 4 == 1)
        return from_bits((random_word() & 0x80ffffff) | 0x3f000000);
    if (word % 4 == 2)
        return from_bits((random_word() & 0x83ffffff) | 0x1c000000);
    return from_bits(random_word());
}

static void single(void)
{
    uint32_t sums[12] = {0};

    for (int n = 0; n < PAIRS; n++) {
        volatile float a = number(), b = number();
        volatile double wide = a;
        uint64_t whole = (uint64_t)random_word() << 32 | random_word();

        whole >>= random_word() % 64;
        sums[0] = sum_of(sums[0], to_bits(a + b));
        sums[1] = sum_of(sums[1], to_bits(a - b));
        sums[2] = sum_of(sums[2], to_bits(a * b));
        sums[3] = sum_of(sums[3], to_bits(a / b));
        sums[4] = sum_of(sums[4], (uint32_t)((a < b) | (a <= b) << 1 | (a > b) << 2 |
                                             (a >= b) << 3 | (a == b) << 4 | (a != b) << 5));
        sums[5] = sum_of(sums[5], to_bits(-a));
        sums[6] = sum_of(sums[6], to_bits((float)(int32_t)whole));
        sums[7] = sum_of(sums[7], to_bits((float)whole));
        sums[8] = sum_of(sums[8], to_bits((float)(int64_t)(whole << 1)));
        sums[9] = sum_of(sums[9], to_bits((float)(wide * 1.0000000298023224)));
        if (a > -2e9f && a < 2e9f) {
            sums[10] = sum_of(sums[10], (uint32_t)(int32_t)a);
            sums[11] = sum_of(sums[11], (uint32_t)(int64_t)(a * 1024));
        }
    }
    for (int n = 0; n < 12; n++)
        printf("single %d %08" PRIx32 "\n", n, sums[n]);
}

static uint64_t wide_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return value != value ? 1 : bits;
}

static uint32_t sum_of_wide(uint32_t sum, double value)
{
    uint64_t bits = wide_bits(value);

    return sum_of(sum_of(sum, (uint32_t)bits), (uint32_t)(bits >> 32));
}

/* Of all sizes; halves and whole numbers, where rounding is decided; what is not normalised. */
static double wide_number(void)
{
    static const uint64_t extremes[] = {0,
                                        UINT64_C(0x8000000000000000),
                                        1,
                                        UINT64_C(0x000fffffffffffff),
                                        UINT64_C(0x0010000000000000),
                                        UINT64_C(0x7fefffffffffffff),
                                        UINT64_C(0x7ff0000000000000),
                                        UINT64_C(0xfff0000000000000),
                                        UINT64_C(0x7ff8000000000000),
                                        UINT64_C(0x3fdfffffffffffff),
                                        UINT64_C(0x4340000000000001),
                                        UINT64_C(0x800fffffffffffff)};
    uint32_t word = random_word();
    uint64_t bits = (uint64_t)random_word() << 32 | random_word();
    double value;

    if (word % 4 == 0)
        bits = extremes[word / 4 % 12];
    if (word % 4 == 1)
        return (double)((int32_t)random_word() >> word / 4 % 32) * 0.5;
    if (word % 4 == 2)
        bits = (bits & UINT64_C(0x803fffffffffffff)) | UINT64_C(0x3fc0000000000000);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void exact(void)
{
    uint32_t sums[16] = {0};

    for (int n = 0; n < PAIRS; n++) {
        volatile double a = wide_number(), b = wide_number();
        double whole = 0;
        int exponent = 0, by = (int)(random_word() % 4400) - 2200;

        sums[0] = sum_of_wide(sums[0], fabs(a));
        sums[1] = sum_of_wide(sums[1], copysign(a, b));
        sums[2] = sum_of_wide(sums[2], trunc(a));
        sums[3] = sum_of_wide(sums[3], floor(a));
        sums[4] = sum_of_wide(sums[4], ceil(a));
        sums[5] = sum_of_wide(sums[5], round(a));
        sums[6] = sum_of_wide(sums[6], rint(a));
        sums[7] = sum_of_wide(sums[7], modf(a, &whole));
        sums[7] = sum_of_wide(sums[7], whole);
        sums[8] = sum_of_wide(sums[8], frexp(a, &exponent));
        if (isfinite(a))
            sums[8] = sum_of(sums[8], (uint32_t)exponent);
        sums[9] = sum_of_wide(sum_of_wide(sums[9], ldexp(a, by)), ldexp(a, by / 32));
        /* Not where the exponents are far apart, for that takes long. */
        if (!(fabs(a) > fabs(b) * 1e30))
            sums[10] = sum_of_wide(sums[10], fmod(a, b));
        sums[11] = sum_of_wide(sums[11], sqrt(fabs(a)));
        if (a != b)
            sums[12] = sum_of_wide(sum_of_wide(sums[12], fmin(a, b)), fmax(a, b));
        sums[13] = sum_of_wide(sums[13], fdim(a, b));
        if (fabs(a) < 2e9)
            sums[14] = sum_of(sum_of(sums[14], (uint32_t)lround(a)), (uint32_t)llrint(a));
        sums[15] = sum_of(sums[15], to_bits(sqrtf((float)fabs(a))));
        sums[15] = sum_of(sums[15], to_bits(roundf((float)b)));
        sums[15] = sum_of(sums[15], (uint32_t)((isnan(a) != 0) | (isinf(b) != 0) << 1 |
                                               (signbit(a) != 0) << 2 | (isnormal(b) != 0) << 3));
    }
    for (int n = 0; n < 16; n++)
        printf("exact %d %08" PRIx32 "\n", n, sums[n]);
}

static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static void others(void)
{
    static const time_t times[] = {0, 951782399, 951782400, 1709251199, 4107542400, -1};
    int numbers[] = {1, 4, 9, 16, 25}, key = 16;
    char text[64], *copy = alloca(32);
    uint32_t sum = 0;
    void *memory = NULL;
    int *found;

    for (int byte = 0; byte < 256; byte++)
        sum = sum_of(sum, byte >= 128
                              ? 0
                              : (uint32_t)((isalnum(byte) != 0) | (isspace(byte) != 0) << 1 |
                                           (ispunct(byte) != 0) << 2 | (isxdigit(byte) != 0) << 3 |
                                           (iscntrl(byte) != 0) << 4 | (isprint(byte) != 0) << 5 |
                                           tolower(byte) << 8 | toupper(byte) << 16));
    printf("ctype %08" PRIx32 "\n", sum);
    printf("sprintf %d", sprintf(text, "%5d|%-5s|%x", 42, "abc", 255u));
    strcpy(copy, "alloca");
    printf(" %s %s\n", text, copy);
    found = bsearch(&key, numbers, 5, sizeof(*numbers), compare);
    key = 17;
    printf("bsearch %d %d\n", (int)(found - numbers),
           bsearch(&key, numbers, 5, sizeof(*numbers), compare) == NULL);
    printf("div %d %d %ld %lld\n", div(-7, 2).quot, div(-7, 2).rem, ldiv(-9, 4).rem,
           lldiv(INT64_C(-90000000000), 7).quot);
    printf("abs %ld %lld\n", labs(-5), llabs(INT64_C(-50000000000)));
    for (unsigned at = 0; at < sizeof(times) / sizeof(times[0]); at++) {
        struct tm parts;

        gmtime_r(&times[at], &parts);
        printf("gmtime %d-%d-%d %d:%d:%d %d %d\n", parts.tm_year, parts.tm_mon, parts.tm_mday,
               parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_wday, parts.tm_yday);
    }
    for (size_t alignment = 8; alignment <= 4096; alignment *= 2) {
        int error = posix_memalign(&memory, alignment, alignment + 3);

        printf("%s",
               error == 0 && (uintptr_t)memory % alignment == 0 ? "aligned " : "NOT ALIGNED ");
        memset(memory, 1, alignment + 3);
        free(memory);
    }
    printf("%d\n", posix_memalign(&memory, 24, 8) == EINVAL);
}

int main(void)
{
    strings();
    single();
    exact();
    others();
    printf("ok\n");
    return 0;
}
