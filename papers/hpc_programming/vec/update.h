/* SPDX-License-Identifier: Apache-2.0 */
/* update: out = v + a u over arrays (axpy and triad) and out = a u (scal), written once for every
 * type and instruction set; see routines.h for what it needs.
 *
 * All stores but the first few are aligned: one that crosses a line costs two. u is loaded four
 * vectors at a time, and that before the four that come before them are used. Of a dozen orders on
 * Zen 5, each over 22 distances of the arrays mod 4096, this one's mean (7.0 elements a cycle in
 * daxpy) is as good as any, and its worst (6.7) is the best. */

VEC_INLINE VEC ROUTINE(result)(bool scale, VEC a, VEC u, VEC v)
{
    return scale ? OP(mul)(a, u) : MULADD(a, u, v);
}

#define STEP(i, from)                                                                              \
    OP(storeu)                                                                                     \
    (out + i * LANES, ROUTINE(result)(scale, factor, from, OP(loadu)(v + i * LANES)));             \
    VEC_IN_ORDER

VEC_INLINE void ROUTINE(update)(bool scale, TYPE a, const TYPE *u, const TYPE *v, TYPE *out,
                                size_t n)
{
    const VEC factor = OP(set1)(a);
    const size_t block = 4 * LANES;

    if (n > 2 * block) {
        size_t skip = -((uintptr_t)out / sizeof(TYPE)) % LANES;
        VEC ahead0, ahead1, ahead2, ahead3;

        if (skip) {
            ROUTINE(edge)(scale, true, a, u, v, out, skip);
            u += skip, v += skip, out += skip, n -= skip;
        }
        ahead0 = OP(loadu)(u);
        ahead1 = OP(loadu)(u + LANES);
        ahead2 = OP(loadu)(u + 2 * LANES);
        ahead3 = OP(loadu)(u + 3 * LANES);
        /* 2 * block + 1 - skip >= block, so four vectors are left. */
        const bool far = vec_is_far(n * sizeof(TYPE) * (scale ? 1 : 2));
        for (; n >= 2 * block; n -= block, v += block, out += block) {
            VEC now0 = ahead0, now1 = ahead1, now2 = ahead2, now3 = ahead3;

            u += block;
            ahead0 = OP(loadu)(u);
            ahead1 = OP(loadu)(u + LANES);
            ahead2 = OP(loadu)(u + 2 * LANES);
            ahead3 = OP(loadu)(u + 3 * LANES);
            VEC_IN_ORDER;
            if (VEC_RARE(far)) {
                for (size_t i = 0; i < block; i += 64 / sizeof(TYPE)) {
                    vec_ahead(u + i, VEC_AHEAD_TWO);
                    if (!scale)
                        vec_ahead(v + i, VEC_AHEAD_TWO);
                }
            }
            STEP(0, now0);
            STEP(1, now1);
            STEP(2, now2);
            STEP(3, now3);
        }
        STEP(0, ahead0);
        STEP(1, ahead1);
        STEP(2, ahead2);
        STEP(3, ahead3);
        u += block, v += block, out += block, n -= block;
    }
    for (; n >= LANES; n -= LANES, u += LANES, v += LANES, out += LANES)
        STEP(0, OP(loadu)(u));
    if (n)
        ROUTINE(edge)(scale, false, a, u, v, out, n);
}
#undef STEP
