/* SPDX-License-Identifier: Apache-2.0 */
/* blas1, limits: loops that do one thing only, to see how fast this machine does it. Compiled once
 * for each width of vectors (BLAS1_WIDTH bytes, BLAS1_ISA); all run on whole lines. */
#include "blas1.h"

#if defined(__aarch64__)
#define REGISTER "w"
#else
#define REGISTER "v"
#endif
#if defined(__x86_64__) && !defined(__AVX512F__)
#undef REGISTER
#define REGISTER "x"
#endif

typedef double vector __attribute__((vector_size(BLAS1_WIDTH), may_alias));
typedef int64_t mask __attribute__((vector_size(BLAS1_WIDTH)));

#define LANES (BLAS1_WIDTH / sizeof(double))
#define UNROLL 16
/* Distances of prefetching that are among the best beyond the second-level cache, for one array and
 * for two. */
#define AHEAD 1024

/* Forces the value into a register here, and keeps what follows behind. */
#define HERE(value) __asm__ volatile("" : "+" REGISTER(value))
/* The value was used. */
#define USED(value) __asm__ volatile("" : : REGISTER(value))
#define ALL(i) _Pragma("GCC unroll 16") for (size_t i = 0; i < UNROLL; i++)

/* n is a multiple of BLAS1_LIMIT_STEP, so that nothing is left over. */
#define VECTORS(o) ((o)->n / LANES)
/* All calls of a batch in one loop, since a limit is not to hold a call's cost. How many vectors
 * there are is read once: a store could change it, as far as the compiler knows. */
#define BLOCKS(o, calls)                                                                           \
    for (size_t call = 0, vectors = VECTORS(o); call < calls; call++)                              \
        for (size_t i = 0; i < vectors; i += UNROLL)

static void load(const struct blas1_operands *o, size_t calls)
{
    const vector *x = (const vector *)o->line_x;

    BLOCKS(o, calls)
    ALL(k)
    {
        vector a = x[i + k];

        USED(a);
    }
}

static void load_prefetch(const struct blas1_operands *o, size_t calls)
{
    const vector *x = (const vector *)o->line_x;

    BLOCKS(o, calls)
    {
        for (size_t k = 0; k < UNROLL * BLAS1_WIDTH; k += 64)
            __builtin_prefetch((const char *)(x + i) + AHEAD + k);
        ALL(k)
        {
            vector a = x[i + k];

            USED(a);
        }
    }
}

static void load2(const struct blas1_operands *o, size_t calls)
{
    const vector *x = (const vector *)o->line_x, *y = (const vector *)o->line_y;

    BLOCKS(o, calls)
    ALL(k)
    {
        vector a = x[i + k], b;

        USED(a);
        b = y[i + k];
        USED(b);
    }
}

static void load2_prefetch(const struct blas1_operands *o, size_t calls)
{
    const vector *x = (const vector *)o->line_x, *y = (const vector *)o->line_y;

    BLOCKS(o, calls)
    {
        for (size_t k = 0; k < UNROLL * BLAS1_WIDTH; k += 64) {
            __builtin_prefetch((const char *)(x + i) + AHEAD + k);
            __builtin_prefetch((const char *)(y + i) + AHEAD + k);
        }
        ALL(k)
        {
            vector a = x[i + k], b;

            USED(a);
            b = y[i + k];
            USED(b);
        }
    }
}

static void store(const struct blas1_operands *o, size_t calls)
{
    vector *y = (vector *)o->line_y;
    vector a = {0};

    a += o->a;
    BLOCKS(o, calls)
    ALL(k)
    {
        HERE(a);
        y[i + k] = a;
    }
}

static void load_store(const struct blas1_operands *o, size_t calls)
{
    vector *y = (vector *)o->line_y;

    BLOCKS(o, calls)
    ALL(k)
    {
        vector a = y[i + k];

        HERE(a);
        y[i + k] = a;
    }
}

/* Loads and stores alone: y is loaded, x is loaded, x is stored where y was. */
static inline void pure(const struct blas1_operands *o, vector *out, size_t calls)
{
    const vector *x = (const vector *)o->line_x, *y = (const vector *)o->line_y;

    BLOCKS(o, calls)
    ALL(k)
    {
        vector a = x[i + k], b;

        HERE(a);
        b = y[i + k];
        USED(b);
        out[i + k] = a;
    }
}

/* The routine's own order: x, then y as an operand of the multiply-add, then the store. */
static inline void in_turn(const struct blas1_operands *o, vector *out, size_t calls)
{
    const vector *x = (const vector *)o->line_x, *y = (const vector *)o->line_y;
    double a = o->a;

    BLOCKS(o, calls)
    ALL(k)
    {
        vector v = x[i + k];

        HERE(v);
        v = v * a + y[i + k];
        HERE(v);
        out[i + k] = v;
    }
}

static inline void grouped(const struct blas1_operands *o, vector *out, size_t calls)
{
    const vector *x = (const vector *)o->line_x, *y = (const vector *)o->line_y;
    double a = o->a;

    BLOCKS(o, calls)
    {
        vector v[UNROLL];

        ALL(k)
        {
            v[k] = x[i + k];
            HERE(v[k]);
        }
        ALL(k)
        {
            v[k] = v[k] * a + y[i + k];
            HERE(v[k]);
        }
        ALL(k)
        out[i + k] = v[k];
    }
}

/* x is loaded some vectors before it is used. The last round loads what follows the array, which is
 * there: buffers are longer. */
static inline void ahead(const struct blas1_operands *o, vector *out, size_t calls, const size_t by)
{
    const vector *x = (const vector *)o->line_x, *y = (const vector *)o->line_y;
    vector v[UNROLL];
    double a = o->a;

    for (size_t k = 0; k < by; k++)
        v[k] = x[k];
    BLOCKS(o, calls)
    ALL(k)
    {
        vector now = v[k % by];

        v[k % by] = x[i + k + by];
        HERE(v[k % by]);
        out[i + k] = now * a + y[i + k];
    }
}

/* Two units of four cycles need eight sums in flight; there are twice as many where the registers
 * allow it. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define CHAINS 16
#else
#define CHAINS 8
#endif
#define EACH(k) _Pragma("GCC unroll 16") for (size_t k = 0; k < CHAINS; k++)

static void fma_only(const struct blas1_operands *o, size_t calls)
{
    vector sums[CHAINS], b = {0}, c = {0};

    b += 0.5;
    c += o->a;
    EACH(k)
    sums[k] = b;
    HERE(b);
    HERE(c);
    for (size_t i = 0, vectors = calls * VECTORS(o); i < vectors; i += CHAINS)
        EACH(k)
        {
            sums[k] = sums[k] * b + c;
            HERE(sums[k]);
        }
}

static void add_only(const struct blas1_operands *o, size_t calls)
{
    vector sums[CHAINS], c = {0};

    c += o->a;
    EACH(k)
    sums[k] = c;
    HERE(c);
    for (size_t i = 0, vectors = calls * VECTORS(o); i < vectors; i += CHAINS)
        EACH(k)
        {
            sums[k] = sums[k] + c;
            HERE(sums[k]);
        }
}

/* Loads for multiply-adds: on some processors they take longer together than each alone. */
static void load_fma(const struct blas1_operands *o, size_t calls)
{
    const vector *x = (const vector *)o->line_x;
    vector sums[CHAINS] = {0};

    BLOCKS(o, calls)
    ALL(k)
    {
        vector a = x[i + k];

        HERE(a);
        sums[k % CHAINS] = a * a + sums[k % CHAINS];
        HERE(sums[k % CHAINS]);
    }
}

/* What a sum of sizes does with each vector beside loading it. */
static void size_only(const struct blas1_operands *o, size_t calls)
{
    vector sums[CHAINS], a = {0};
    mask size = {0};

    a -= o->a;
    size += INT64_MAX;
    EACH(k)
    sums[k] = a;
    HERE(size);
    for (size_t i = 0, vectors = calls * VECTORS(o); i < vectors; i += CHAINS)
        EACH(k)
        {
            HERE(a);
            sums[k] += (vector)((mask)a & size);
            HERE(sums[k]);
        }
}

#define INTO(NAME, CALL)                                                                           \
    static void NAME##_y(const struct blas1_operands *o, size_t calls)                             \
    {                                                                                              \
        vector *out = (vector *)o->line_y;                                                         \
                                                                                                   \
        CALL;                                                                                      \
    }                                                                                              \
    static void NAME##_z(const struct blas1_operands *o, size_t calls)                             \
    {                                                                                              \
        vector *out = (vector *)o->line_z;                                                         \
                                                                                                   \
        CALL;                                                                                      \
    }

INTO(pure, pure(o, out, calls))
INTO(in_turn, in_turn(o, out, calls))
INTO(grouped, grouped(o, out, calls))
INTO(ahead2, ahead(o, out, calls, 2))
INTO(ahead4, ahead(o, out, calls, 4))
INTO(ahead8, ahead(o, out, calls, 8))

#define BIT(NAME) (1u << BLAS1_##NAME)
#define ONE (BIT(DSUM) | BIT(DSUMSQ) | BIT(DASUM) | BIT(DNRM2))
#define TWO BIT(DDOT)
#define UPDATES(VARIANT, FUNCTION)                                                                 \
    {"limit-load2-store1", BLAS1_NAME "-" VARIANT, FUNCTION##_y, BIT(DAXPY)},                      \
    {                                                                                              \
        "limit-load2-store1", BLAS1_NAME "-" VARIANT, FUNCTION##_z, BIT(DTRIAD)                    \
    }

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define QUOTE2(a) #a
#define QUOTE(a) QUOTE2(a)
#define BLAS1_NAME QUOTE(BLAS1_ISA)

const struct blas1_limit JOIN(blas1_limits_, BLAS1_ISA)[] = {
    {"limit-load", BLAS1_NAME, load, ONE},
    {"limit-load", BLAS1_NAME "-prefetch", load_prefetch, ONE},
    {"limit-load2", BLAS1_NAME, load2, TWO},
    {"limit-load2", BLAS1_NAME "-prefetch", load2_prefetch, TWO},
    {"limit-store", BLAS1_NAME, store, BIT(DSCAL) | BIT(DAXPY) | BIT(DTRIAD)},
    {"limit-load-store", BLAS1_NAME, load_store, BIT(DSCAL)},
    UPDATES("pure", pure),
    UPDATES("in-turn", in_turn),
    UPDATES("grouped8", grouped),
    UPDATES("ahead2", ahead2),
    UPDATES("ahead4", ahead4),
    UPDATES("ahead8", ahead8),
    {"limit-fma", BLAS1_NAME, fma_only,
     BIT(DSUMSQ) | BIT(DNRM2) | BIT(DDOT) | BIT(DAXPY) | BIT(DTRIAD)},
    {"limit-load-fma", BLAS1_NAME, load_fma, BIT(DSUMSQ) | BIT(DNRM2)},
    {"limit-add", BLAS1_NAME, add_only, BIT(DSUM) | BIT(DASUM)},
    {"limit-size", BLAS1_NAME, size_only, BIT(DASUM)},
    {NULL, NULL, NULL, 0},
};
