/* SPDX-License-Identifier: Apache-2.0 */
/* Update: out = v + a u over arrays (axpy and triad) and out = a u (scal), written once for every
 * type and instruction set; see routines.h for what it needs. */

VEC_INLINE VEC ROUTINE(result)(bool scale, VEC a, VEC u, VEC v)
{
    return scale ? OP(mul)(a, u) : MULADD(a, u, v);
}

#define AHEAD(i) VEC ahead##i = OP(loadu)(u + i * LANES);
#define STEP(i)                                                                                    \
    do {                                                                                           \
        VEC now = ahead##i;                                                                        \
        ahead##i = OP(loadu)(u + (4 + i) * LANES);                                                 \
        OP(storeu)                                                                                 \
        (out + i * LANES, ROUTINE(result)(scale, factor, now, OP(loadu)(v + i * LANES)));          \
    } while (0)
#define LAST_STEP(i)                                                                               \
    OP(storeu)                                                                                     \
    (out + i * LANES, ROUTINE(result)(scale, factor, ahead##i, OP(loadu)(v + i * LANES)))

/* All stores but the first are aligned: one that crosses a line costs two. u is loaded four vectors
 * ahead of its use: 7.3 elements a cycle in daxpy on Zen 5, against 7.0 without and 5.3 with v
 * loaded first. */
VEC_INLINE void ROUTINE(update)(bool scale, TYPE a, const TYPE *u, const TYPE *v, TYPE *out,
                                size_t n)
{
    const VEC factor = OP(set1)(a);
    const size_t block = 4 * LANES;

    if (n > 2 * block) {
        size_t skip = -((uintptr_t)out / sizeof(TYPE)) % LANES;

        if (skip) {
            ROUTINE(edge)(scale, a, u, v, out, skip);
            u += skip;
            v += skip;
            out += skip;
            n -= skip;
        }
        if (n >= block) {
            AHEAD(0) AHEAD(1) AHEAD(2) AHEAD(3) bool far = n * sizeof(TYPE) * 2 > okosu_vec_far;
            if (far) {
                for (; n >= 2 * block; n -= block, u += block, v += block, out += block) {
                    for (size_t i = 0; i < block; i += 64 / sizeof(TYPE)) {
                        vec_ahead(u + i);
                        vec_ahead(v + i);
                    }
                    STEP(0);
                    STEP(1);
                    STEP(2);
                    STEP(3);
                }
            } else {
                for (; n >= 2 * block; n -= block, u += block, v += block, out += block) {
                    STEP(0);
                    STEP(1);
                    STEP(2);
                    STEP(3);
                }
            }
            LAST_STEP(0);
            LAST_STEP(1);
            LAST_STEP(2);
            LAST_STEP(3);
            n -= block, u += block, v += block, out += block;
        }
    }
    for (; n >= LANES; n -= LANES, u += LANES, v += LANES, out += LANES)
        OP(storeu)(out, ROUTINE(result)(scale, factor, OP(loadu)(u), OP(loadu)(v)));
    if (n)
        ROUTINE(edge)(scale, a, u, v, out, n);
}
#undef AHEAD
#undef STEP
#undef LAST_STEP
