/* SPDX-License-Identifier: Apache-2.0 */
/* blas1: what the files of this benchmark share. */
#ifndef OKOSU_BENCH_BLAS1_H
#define OKOSU_BENCH_BLAS1_H

#include "harness.h"
#include "peers.h"

#include <okosu/vec.h>

#include <string.h>

enum blas1_routine {
    BLAS1_DSUM,
    BLAS1_DSUMSQ,
    BLAS1_DASUM,
    BLAS1_DNRM2,
    BLAS1_DDOT,
    BLAS1_DAXPY,
    BLAS1_DSCAL,
    BLAS1_DTRIAD,
    BLAS1_SSUM, /* the same of floats, in the same order */
    BLAS1_SSUMSQ,
    BLAS1_SASUM,
    BLAS1_SNRM2,
    BLAS1_SDOT,
    BLAS1_SAXPY,
    BLAS1_SSCAL,
    BLAS1_STRIAD,
    BLAS1_ROUTINES
};

static inline bool blas1_is_float(enum blas1_routine routine)
{
    return routine >= BLAS1_SSUM;
}

/* The routine of doubles that does the same. */
static inline enum blas1_routine blas1_of_doubles(enum blas1_routine routine)
{
    return blas1_is_float(routine) ? routine - BLAS1_SSUM : routine;
}

static inline size_t blas1_element(enum blas1_routine routine)
{
    return blas1_is_float(routine) ? sizeof(float) : sizeof(double);
}

/* Copies of what a call writes, used in turn where calls are to be independent: a call that reads
 * what the last one wrote would wait for it. */
#define BLAS1_COPIES 8

/* Of doubles or floats, as the routine has them. */
struct blas1_operands {
    void *x, *y, *z; /* z: the output of triad alone */
    /* The same without the point's offsets: the limits always run on whole lines. */
    void *line_x, *line_y, *line_z;
    size_t n; /* elements; for a limit, which counts in doubles, those that are as many bytes */
    double a; /* the factor of the updates */
    float float_a; /* the same */
    size_t mask;   /* BLAS1_COPIES - 1 or 0 */
    size_t stride; /* elements between copies */
    uint64_t zero; /* 0, but not to the compiler */
};

typedef void blas1_any(void);

/* A library's routines; each as `call` says. */
struct blas1_library {
    const char *variant, *kind, *library, *config;
    enum peer_call call;
    blas1_any *routines[BLAS1_ROUTINES];
    /* This routine stands in for one that the library has not: ddot(x, x) for the sum of squares,
     * dasum for the sum. */
    const char *stands_in[BLAS1_ROUTINES];
    size_t multiple;  /* n must be a multiple of this, and not 0; 0: any */
    size_t alignment; /* bytes; 0: any */
};

struct blas1_arg {
    blas1_any *routine;
    const struct blas1_operands *operands;
    /* A limit or an inlined form brings its own loop over the calls. */
    void (*limit)(const struct blas1_operands *operands, size_t calls);
};

/* The name of the routine ("ddot"), and how many arrays it goes over. */
extern const char *const blas1_names[BLAS1_ROUTINES];
size_t blas1_arrays(enum blas1_routine routine);

/* What calls the routine over and over; waiting: each call for the result of the one before. */
void (*blas1_runner(enum blas1_routine routine, const struct blas1_library *library,
                    bool waiting))(void *arg, size_t calls);
/* One call; the result is 0 where the routine has none. */
double blas1_call(enum blas1_routine routine, const struct blas1_library *library,
                  const struct blas1_operands *operands);
/* The routines of a peer, with stand-ins. */
void blas1_from_peer(struct blas1_library *library, const struct peer *peer);
/* Whether its routines take arrays of n elements. */
bool blas1_takes(const struct blas1_library *library, size_t n);
/* Compares every routine with sums in long double, and takes those that are wrong out of the library;
 * why: what was wrong with the last of them. 0, or -EINVAL where none is left. */
int blas1_check(struct blas1_library *library, char *why, size_t size);

/* okosu/vec_inline.h at a length that is a constant: what calls the routine over and over, and what
 * calls it once. */
struct blas1_inline {
    enum blas1_routine routine;
    size_t n;
    void (*run)(const struct blas1_operands *operands, size_t calls);
    void (*wait)(const struct blas1_operands *operands, size_t calls);
};
/* Those of the widest instructions of this CPU, ended by n == 0; *name becomes "inline-avx512". */
const struct blas1_inline *blas1_inlines(const char **name);
extern const struct blas1_inline blas1_inlines_base[];
#if defined(__x86_64__)
extern const struct blas1_inline blas1_inlines_avx2[], blas1_inlines_avx512[];
#endif
/* Returns the address x, but only once `value` is known. */
static inline void *blas1_after(double value, void *x, uint64_t zero)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (void *)((uintptr_t)x + (bits & zero));
}

/* The limits run only where n is a multiple of this: they have no code for a remainder. */
#define BLAS1_LIMIT_STEP 128

struct blas1_limit {
    const char *routine; /* "limit-load2-store1" */
    const char *variant; /* "avx512-ahead4" */
    void (*run)(const struct blas1_operands *operands, size_t calls);
    unsigned routines; /* bit k: a limit of enum blas1_routine k, of doubles */
};
/* Those of the widest instructions of this CPU, ended by a NULL routine. */
const struct blas1_limit *blas1_limits(void);
extern const struct blas1_limit blas1_limits_base[];
#if defined(__x86_64__)
extern const struct blas1_limit blas1_limits_avx2[], blas1_limits_avx512[];
#elif defined(__aarch64__)
extern const struct blas1_limit blas1_limits_sve256[], blas1_limits_sve512[];
#endif

#endif
