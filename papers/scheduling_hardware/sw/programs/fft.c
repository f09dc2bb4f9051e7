/* SPDX-License-Identifier: Apache-2.0 */
/* fft LOG2 THREADS: the discrete Fourier transform of 2^LOG2 complex numbers in fixed point, by
 * radix 2: members permute their parts, then divide the butterflies of each stage among themselves
 * and meet after it. Right is what the transform back leads to where it began, and of which some
 * bins are those of the sum that defines the transform. */
#include "kernel.h"

enum { MOST_LOG2 = 15, AMPLITUDE = 1 << 13, BINS = 4, UNIT = 1 << 30 };

struct complex {
    int32_t re, im;
};

static struct complex *values, *given, *roots;
static unsigned bits, size;
static int backwards;

static inline int32_t scaled(int32_t left, int32_t right)
{
    return (int32_t)(((int64_t)left * right + UNIT / 2) >> 30);
}

static inline struct complex times(struct complex value, struct complex root)
{
    return (struct complex){scaled(value.re, root.re) - scaled(value.im, root.im),
                            scaled(value.re, root.im) + scaled(value.im, root.re)};
}

static unsigned reversed(unsigned at)
{
    unsigned found = 0;

    for (unsigned bit = 0; bit < bits; bit++, at >>= 1)
        found = found << 1 | (at & 1);
    return found;
}

static void *transform(void *argument)
{
    unsigned member = (unsigned)(uintptr_t)argument;
    unsigned first = share(size / 2, member), end = share(size / 2, member + 1);

    for (unsigned at = share(size, member); at < share(size, member + 1); at++) {
        unsigned other = reversed(at);

        if (at < other) {
            struct complex kept = values[at];

            values[at] = values[other];
            values[other] = kept;
        }
    }
    for (unsigned stage = 0; stage < bits; stage++) {
        unsigned half = 1u << stage;

        meet();
        for (unsigned butterfly = first; butterfly < end; butterfly++) {
            unsigned within = butterfly & (half - 1);
            unsigned upper = (butterfly - within) * 2 + within;
            struct complex root = roots[within << (bits - 1 - stage)];
            struct complex one = values[upper], two;

            if (backwards)
                root.im = -root.im;
            two = times(values[upper + half], root);
            values[upper] = (struct complex){one.re + two.re, one.im + two.im};
            values[upper + half] = (struct complex){one.re - two.re, one.im - two.im};
        }
    }
    return NULL;
}

static uint64_t root_of(uint64_t square)
{
    uint64_t found = 0;

    for (uint64_t bit = UINT64_C(1) << 31; bit != 0; bit >>= 1)
        if ((found + bit) * (found + bit) <= square)
            found += bit;
    return found;
}

/* Roots of unity: from a half turn each angle is halved, and others are sums of these. */
static void find_roots(void)
{
    struct complex halved[MOST_LOG2 + 1] = {{-UNIT, 0}, {0, -UNIT}};

    for (unsigned at = 2; at < bits; at++) {
        int64_t cosine = halved[at - 1].re;

        halved[at].re = (int32_t)root_of((uint64_t)(UNIT + cosine) << 29);
        halved[at].im = -(int32_t)root_of((uint64_t)(UNIT - cosine) << 29);
    }
    roots[0] = (struct complex){UNIT, 0};
    for (unsigned at = 1; at < size / 2; at++) {
        unsigned low = at & -at, power = 0;

        while (size / 2 >> power != low)
            power++;
        roots[at] = low == at ? halved[power] : times(halved[power], roots[at - low]);
    }
}

/* A bin by definition, rounded once: the sum of all values, each turned as far as it is away. */
static struct complex by_definition(unsigned bin)
{
    int64_t re = 0, im = 0;

    for (unsigned at = 0; at < size; at++) {
        unsigned turn = at * bin & (size - 1);
        int64_t sign = turn < size / 2 ? 1 : -1;
        struct complex value = given[at], root = roots[turn & (size / 2 - 1)];

        re += sign * ((int64_t)value.re * root.re - (int64_t)value.im * root.im);
        im += sign * ((int64_t)value.re * root.im + (int64_t)value.im * root.re);
    }
    return (struct complex){(int32_t)((re + UNIT / 2) >> 30), (int32_t)((im + UNIT / 2) >> 30)};
}

static int near(struct complex one, struct complex other, int32_t most)
{
    return abs(one.re - other.re) <= most && abs(one.im - other.im) <= most;
}

int main(int argc, char **argv)
{
    unsigned long long took;
    uint32_t sum = 0;
    int right = 1;

    bits = number(argc, argv, 1, 2, MOST_LOG2, 8);
    members = number(argc, argv, 2, 1, MOST_MEMBERS, 4);
    size = 1u << bits;
    values = memory(size * sizeof(*values));
    given = memory(size * sizeof(*given));
    roots = memory(size / 2 * sizeof(*roots));
    find_roots();
    for (uint32_t at = 0, word = 1; at < size; at++) {
        word = word * 1664525 + 1013904223;
        given[at].re = (int32_t)(word >> 18) - AMPLITUDE;
        given[at].im = (int32_t)((word >> 4) & (2 * AMPLITUDE - 1)) - AMPLITUDE;
        values[at] = given[at];
    }
    took = team(transform);
    for (unsigned at = 0; at < size; at++)
        sum = digest(digest(sum, (uint32_t)values[at].re), (uint32_t)values[at].im);
    /* A stage's product is wrong by one at most; of these errors each bin sums up less than size,
     * and of that in random directions, the root. */
    for (unsigned which = 0; which < BINS; which++) {
        unsigned bin = (which * 2654435761u + 1) & (size - 1);

        right &= near(values[bin], by_definition(bin), 8 + (int32_t)(1u << (bits / 2 + 2)));
    }
    backwards = 1;
    team(transform);
    for (unsigned at = 0; at < size; at++) {
        struct complex back = {(values[at].re + (int32_t)(size / 2)) >> bits,
                               (values[at].im + (int32_t)(size / 2)) >> bits};

        right &= near(back, given[at], 2);
    }
    printf("fft: %u numbers by %u threads\n", size, members);
    return finish(took, sum, right);
}
