/* SPDX-License-Identifier: Apache-2.0 */
/* blas1, check: compares a peer's results before it is timed. */
#include "blas1.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 1000
/* Elements on each side that must stay as they are. */
#define GUARD 8
#define GUARD_VALUE 12345.0

const char *const blas1_names[BLAS1_ROUTINES] = {
    "dsum", "dsumsq", "dasum", "dnrm2", "ddot", "daxpy", "dscal", "dtriad",
    "ssum", "ssumsq", "sasum", "snrm2", "sdot", "saxpy", "sscal", "striad"};

size_t blas1_arrays(enum blas1_routine routine)
{
    static const size_t arrays[] = {1, 1, 1, 1, 2, 2, 1, 3};

    return arrays[blas1_of_doubles(routine)];
}

void blas1_from_peer(struct blas1_library *library, const struct peer *peer)
{
    *library = (struct blas1_library){.variant = peer->name,
                                      .kind = peer->kind,
                                      .library = peer->version,
                                      .config = peer->config,
                                      .call = peer->call,
                                      .multiple = peer->multiple,
                                      .alignment = peer->alignment};
    for (size_t k = 0; k < BLAS1_ROUTINES; k++)
        library->routines[k] = peers_symbol(peer, blas1_names[k]);
    if (peer->call == PEER_PLAIN)
        return;
    /* CBLAS has no triad and no sum of squares, and only OpenBLAS has a sum. */
    library->routines[BLAS1_DTRIAD] = library->routines[BLAS1_STRIAD] = NULL;
    library->routines[BLAS1_DSUMSQ] = library->routines[BLAS1_DDOT];
    library->stands_in[BLAS1_DSUMSQ] = "ddot(x, x)";
    library->routines[BLAS1_SSUMSQ] = library->routines[BLAS1_SDOT];
    library->stands_in[BLAS1_SSUMSQ] = "sdot(x, x)";
    if (library->routines[BLAS1_DSUM] == NULL) {
        library->routines[BLAS1_DSUM] = library->routines[BLAS1_DASUM];
        library->stands_in[BLAS1_DSUM] = "dasum";
    }
    if (library->routines[BLAS1_SSUM] == NULL) {
        library->routines[BLAS1_SSUM] = library->routines[BLAS1_SASUM];
        library->stands_in[BLAS1_SSUM] = "sasum";
    }
}

struct expected {
    long double value,
        error; /* error: the sum of the terms' sizes, which rounding is relative to */
};

/* One element of an operand. */
static double element(enum blas1_routine routine, const void *array, size_t i)
{
    return blas1_is_float(routine) ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static void put(enum blas1_routine routine, void *array, size_t i, double value)
{
    if (blas1_is_float(routine))
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

/* What element i of the array that the routine writes is to become. */
static double updated(enum blas1_routine routine, double a, double x, double y)
{
    switch (blas1_of_doubles(routine)) {
    case BLAS1_DAXPY:
        return y + a * x;
    case BLAS1_DSCAL:
        return a * y;
    default:
        return x + a * y;
    }
}

static struct expected expect(enum blas1_routine routine, const struct blas1_operands *o)
{
    enum blas1_routine what = blas1_of_doubles(routine);
    struct expected sum = {0, 0};

    for (size_t i = 0; i < o->n; i++) {
        long double x = element(routine, o->x, i), y = element(routine, o->y, i);
        long double term = what == BLAS1_DSUM    ? x
                           : what == BLAS1_DASUM ? fabsl(x)
                           : what == BLAS1_DDOT  ? x * y
                                                 : x * x;

        sum.value += term;
        sum.error += fabsl(term);
    }
    if (what == BLAS1_DNRM2) {
        sum.value = sqrtl(sum.value);
        sum.error = sum.value;
    }
    return sum;
}

static bool close_enough(enum blas1_routine routine, double got, long double wanted,
                         long double terms, size_t n)
{
    long double rounding = blas1_is_float(routine) ? FLT_EPSILON : DBL_EPSILON;

    return fabsl(got - wanted) <= (long double)(n + 4) * rounding * terms;
}

static bool writes(enum blas1_routine routine)
{
    return blas1_of_doubles(routine) >= BLAS1_DAXPY;
}

static int check_one(enum blas1_routine routine, const struct blas1_library *library, size_t n,
                     char *why, size_t size)
{
    /* The operands begin on lines, of doubles and of floats. */
    static _Alignas(64) double x[LONGEST + 2 * GUARD], y[LONGEST + 2 * GUARD];
    static _Alignas(64) double z[LONGEST + 2 * GUARD];
    static double before[LONGEST + 2 * GUARD];
    size_t guard = GUARD * sizeof(double) / blas1_element(routine), all = LONGEST + 2 * guard;
    struct blas1_operands o = {
        .x = x + GUARD, .y = y + GUARD, .z = z + GUARD, .n = n, .a = -0.75, .float_a = -0.75F};
    const void *out = blas1_of_doubles(routine) == BLAS1_DTRIAD ? z : y;
    struct expected wanted;
    double got;

    for (size_t i = 0; i < all; i++) {
        bool inside = i >= guard && i < guard + n;
        size_t k = i - guard;

        put(routine, x, i, inside ? (double)((k * 2654435761u) % 1024) / 512 - 1 : GUARD_VALUE);
        put(routine, y, i, inside ? (double)((k * 40503u) % 512) / 256 - 0.875 : GUARD_VALUE);
        put(routine, z, i, inside ? element(routine, x, i) : GUARD_VALUE);
    }
    memcpy(before, y, sizeof(before));
    wanted = expect(routine, &o);
    got = blas1_call(routine, library, &o);
    if (!writes(routine)) {
        if (close_enough(routine, got, wanted.value, wanted.error, n))
            return 0;
        snprintf(why, size, "its result is wrong: %s of %zu elements gave %.17g, not %.17g",
                 blas1_names[routine], n, got, (double)wanted.value);
        return -EINVAL;
    }
    for (size_t i = 0; i < all; i++) {
        bool inside = i >= guard && i < guard + n;
        double value =
            inside ? updated(routine, o.a, element(routine, x, i), element(routine, before, i))
                   : GUARD_VALUE;
        double left = element(routine, out, i);

        if (inside ? !close_enough(routine, left, value, 4, 0) : left != value) {
            snprintf(why, size, "its result is wrong: %s of %zu elements left %.17g, not %.17g",
                     blas1_names[routine], n, left, value);
            return -EINVAL;
        }
    }
    return 0;
}

bool blas1_takes(const struct blas1_library *library, size_t n)
{
    return library->multiple == 0 || (n % library->multiple == 0 && n > 0);
}

/* Whether the routine is right at every length that it takes; else why holds the reason. */
static bool is_right(const struct blas1_library *library, enum blas1_routine routine, char *why,
                     size_t size)
{
    static const size_t lengths[] = {0,  1,  2,  3,  4,  5,  7,  8,   9,   15,  16,
                                     17, 31, 32, 33, 63, 64, 65, 100, 255, 256, LONGEST};

    /* dasum, which stands in for the sum, is not compared: it is the sum of the timed elements,
     * of which none is negative. */
    if (library->stands_in[routine] && blas1_of_doubles(routine) == BLAS1_DSUM)
        return true;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        if (blas1_takes(library, lengths[i]) &&
            check_one(routine, library, lengths[i], why, size) < 0)
            return false;
    return true;
}

int blas1_check(struct blas1_library *library, char *why, size_t size)
{
    bool any = false;

    snprintf(why, size, "it has none of the routines that are measured");
    for (enum blas1_routine k = 0; k < BLAS1_ROUTINES; k++) {
        if (library->routines[k] && !is_right(library, k, why, size))
            library->routines[k] = NULL;
        any |= library->routines[k] != NULL;
    }
    return any ? 0 : -EINVAL;
}
