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

const char *const blas1_names[BLAS1_ROUTINES] = {"dsum", "dsumsq", "dasum", "dnrm2",
                                                 "ddot", "daxpy",  "dscal", "dtriad"};
const size_t blas1_arrays[BLAS1_ROUTINES] = {1, 1, 1, 1, 2, 2, 1, 3};

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
    library->routines[BLAS1_DTRIAD] = NULL;
    library->routines[BLAS1_DSUMSQ] = library->routines[BLAS1_DDOT];
    library->stands_in[BLAS1_DSUMSQ] = "ddot(x, x)";
    if (library->routines[BLAS1_DSUM] == NULL) {
        library->routines[BLAS1_DSUM] = library->routines[BLAS1_DASUM];
        library->stands_in[BLAS1_DSUM] = "dasum";
    }
}

struct expected {
    long double value,
        error; /* error: the sum of the terms' sizes, which rounding is relative to */
};

/* What element i of the array that the routine writes is to become. */
static double updated(enum blas1_routine routine, const struct blas1_operands *o, const double *y,
                      size_t i)
{
    switch (routine) {
    case BLAS1_DAXPY:
        return y[i] + o->a * o->x[i];
    case BLAS1_DSCAL:
        return o->a * y[i];
    default:
        return o->x[i] + o->a * y[i];
    }
}

static struct expected expect(enum blas1_routine routine, const struct blas1_operands *o)
{
    struct expected sum = {0, 0};

    for (size_t i = 0; i < o->n; i++) {
        long double x = o->x[i], y = o->y[i];
        long double term = routine == BLAS1_DSUM    ? x
                           : routine == BLAS1_DASUM ? fabsl(x)
                           : routine == BLAS1_DDOT  ? x * y
                                                    : x * x;

        sum.value += term;
        sum.error += fabsl(term);
    }
    if (routine == BLAS1_DNRM2) {
        sum.value = sqrtl(sum.value);
        sum.error = sum.value;
    }
    return sum;
}

static bool close_enough(double got, long double wanted, long double terms, size_t n)
{
    return fabsl(got - wanted) <= (long double)(n + 4) * DBL_EPSILON * terms;
}

static bool writes(enum blas1_routine routine)
{
    return routine == BLAS1_DAXPY || routine == BLAS1_DSCAL || routine == BLAS1_DTRIAD;
}

static int check_one(enum blas1_routine routine, const struct blas1_library *library, size_t n,
                     char *why, size_t size)
{
    /* The operands begin on lines. */
    static _Alignas(64) double x[LONGEST + 2 * GUARD], y[LONGEST + 2 * GUARD];
    static _Alignas(64) double z[LONGEST + 2 * GUARD];
    static double before[LONGEST + 2 * GUARD];
    struct blas1_operands o = {.x = x + GUARD, .y = y + GUARD, .z = z + GUARD, .n = n, .a = -0.75};
    double *out = routine == BLAS1_DTRIAD ? z : y;
    struct expected wanted;
    double got;

    for (size_t i = 0; i < LONGEST + 2 * GUARD; i++) {
        x[i] = y[i] = z[i] = GUARD_VALUE;
        if (i >= GUARD && i < GUARD + n) {
            x[i] = (double)((i * 2654435761u) % 1024) / 512 - 1;
            y[i] = (double)((i * 40503u) % 512) / 256 - 0.9;
        }
    }
    memcpy(before, y, sizeof(before));
    wanted = expect(routine, &o);
    got = blas1_call(routine, library, &o);
    if (!writes(routine)) {
        if (close_enough(got, wanted.value, wanted.error, n))
            return 0;
        snprintf(why, size, "its result is wrong: %s of %zu elements gave %.17g, not %.17g",
                 blas1_names[routine], n, got, (double)wanted.value);
        return -EINVAL;
    }
    for (size_t i = 0; i < LONGEST + 2 * GUARD; i++) {
        bool inside = i >= GUARD && i < GUARD + n;
        double value = inside ? updated(routine, &o, before + GUARD, i - GUARD) : GUARD_VALUE;

        if (inside ? !close_enough(out[i], value, 4, 0) : out[i] != value) {
            snprintf(why, size, "its result is wrong: %s of %zu elements left %.17g, not %.17g",
                     blas1_names[routine], n, out[i], value);
            return -EINVAL;
        }
    }
    return 0;
}

bool blas1_takes(const struct blas1_library *library, size_t n)
{
    return library->multiple == 0 || (n % library->multiple == 0 && n > 0);
}

int blas1_check(const struct blas1_library *library, char *why, size_t size)
{
    static const size_t lengths[] = {0,  1,  2,  3,  4,  5,  7,  8,   9,   15,  16,
                                     17, 31, 32, 33, 63, 64, 65, 100, 255, 256, LONGEST};
    bool any = false;

    for (size_t k = 0; k < BLAS1_ROUTINES; k++) {
        bool same = library->stands_in[k] && k == BLAS1_DSUM;

        any |= library->routines[k] != NULL;
        /* dasum, which stands in for the sum, is not compared: it is the sum of the timed elements,
         * of which none is negative. */
        for (size_t i = 0; library->routines[k] && !same && i < sizeof(lengths) / sizeof(*lengths);
             i++)
            if (blas1_takes(library, lengths[i]) &&
                check_one((enum blas1_routine)k, library, lengths[i], why, size) < 0)
                return -EINVAL;
    }
    if (any)
        return 0;
    snprintf(why, size, "it has none of the routines that are measured");
    return -EINVAL;
}
