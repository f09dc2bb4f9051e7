/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of update() and scale() for vector.avx2.c and vector.avx512.c. Less than a vector is done in powers
 * of two, so that no part crosses a line: growing where the end is aligned, shrinking where the
 * beginning is. Masked stores would be less code, but a load of what one wrote waits 8 cycles
 * longer on Zen 5 (daxpy of 7 elements, again and again: 22 cycles against 13), and AVX2's are
 * microcode on AMD. */

VEC_INLINE void ROUTINE(edge_ones)(bool scale, TYPE a, const TYPE *u, const TYPE *v, TYPE *out,
                                   size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = scale ? a * u[i] : UPDATED_ONE(a, u[i], v[i]);
}

#define EDGE(WIDE, VECTOR, lanes)                                                                  \
    if (n & (lanes)) {                                                                             \
        VECTOR from = WIDE(loadu)(u + at), factor = WIDE(set1)(a);                                 \
                                                                                                   \
        WIDE(storeu)                                                                               \
        (out + at,                                                                                 \
         scale ? WIDE(mul)(factor, from) : UPDATED(WIDE, factor, from, WIDE(loadu)(v + at)));      \
        at += lanes;                                                                               \
    }

/* n < LANES elements. */
VEC_INLINE void ROUTINE(edge)(bool scale, bool up, TYPE a, const TYPE *u, const TYPE *v, TYPE *out,
                              size_t n)
{
    const size_t quarter = 16 / sizeof(TYPE), ones = n % quarter;
    size_t at = 0;

    if (up) {
        ROUTINE(edge_ones)(scale, a, u, v, out, ones);
        at = ones;
        EDGE(OP128, QUARTER, quarter)
        EDGE(OP256, HALF, 2 * quarter)
    } else {
        EDGE(OP256, HALF, 2 * quarter)
        EDGE(OP128, QUARTER, quarter)
        ROUTINE(edge_ones)(scale, a, u + at, v + at, out + at, ones);
    }
}

#undef EDGE
