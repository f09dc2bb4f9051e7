/* SPDX-License-Identifier: Apache-2.0 */
/* update: out = v + a u over arrays (axpy and triad) and x = a x (scal), written once for every type
 * and instruction set; see routines.h for what it needs.
 *
 * All stores but the first few are aligned: one that crosses a line costs two. SSE and AVX2 multiply and
 * add by two instructions (AVX2's have their operands in memory), and store a vector before the next one is
 * loaded: 1,024 doubles in L1 take Zen 3 262 cycles with AVX2, as loads and stores alone do, for 366 to 480
 * with the fused multiply-add in any of a dozen orders; SSE's took up to a quarter more by loads that run
 * ahead. With AVX-512 they do (update_ahead), and the multiply-add is fused; but not on Intel's cores, where arrays
 * in L1 take up to a twelfth less with each load right before its use (Emerald Rapids). */

#define STEP(i, from)                                                                              \
    OP(storeu)                                                                                     \
    (out + i * LANES, UPDATED(OP, factor, from, OP(loadu)(v + i * LANES)));                        \
    VEC_IN_ORDER

#ifdef HALVES
#define HALF_STEP(i, from)                                                                         \
    OP256(storeu)                                                                                  \
    (out + i * (LANES / 2), UPDATED(OP256, factor, from, OP256(loadu)(v + i * (LANES / 2))));      \
    VEC_IN_ORDER

/* Two lines of each array a turn. Returns how many elements it did. */
VEC_INLINE size_t ROUTINE(update_by_halves)(TYPE a, const TYPE *u, const TYPE *v, TYPE *out,
                                            size_t n)
{
    const HALF factor = OP256(set1)(a);
    size_t left = n;

    for (; left >= 2 * LANES; left -= 2 * LANES, u += 2 * LANES, v += 2 * LANES, out += 2 * LANES) {
        HALF u0 = OP256(loadu)(u), u1 = OP256(loadu)(u + LANES / 2);
        HALF u2 = OP256(loadu)(u + LANES), u3 = OP256(loadu)(u + LANES + LANES / 2);

        VEC_IN_ORDER;
        HALF_STEP(0, u0);
        HALF_STEP(1, u1);
        HALF_STEP(2, u2);
        HALF_STEP(3, u3);
    }
    return n - left;
}
#undef HALF_STEP
#endif

/* A block is four vectors of each array. `out` begins a vector, and a block or more is left. u is loaded four
 * vectors at a time, and that before the four that come before them are used. Of a dozen orders on Zen 5, each
 * over 22 distances of the arrays mod 4096, this one's mean (7.0 elements a cycle in daxpy) is as good as any,
 * and its worst (6.7) is the best. Returns how many elements it did; less than a block is left then. */
VEC_INLINE size_t ROUTINE(update_ahead)(TYPE a, const TYPE *u, const TYPE *v, TYPE *out, size_t n)
{
    const VEC factor = OP(set1)(a);
    const size_t block = 4 * LANES, all = n;

#ifdef HALVES
    if (n >= 2 * block && VEC_RARE(vec_is_in_l2(n * sizeof(TYPE) * 2)) &&
        (uintptr_t)u % sizeof(VEC) == 0) {
        size_t done = ROUTINE(update_by_halves)(a, u, v, out, n - 2 * block);

        u += done, v += done, out += done, n -= done;
    }
#endif
    const bool far = vec_is_far(n * sizeof(TYPE) * 2);
    VEC ahead0 = OP(loadu)(u), ahead1 = OP(loadu)(u + LANES);
    VEC ahead2 = OP(loadu)(u + 2 * LANES), ahead3 = OP(loadu)(u + 3 * LANES);

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
    return all - n + block;
}

/* Vectors of a whole line cost more for each that crosses two, and less for each turn of a loop that
 * does one. With them (Zen 5) stores are aligned from five lines on, and up to eight blocks the loads
 * run ahead only where those of u cross lines: the block before the loop and the one behind it cost
 * more than is won (saxpy of 192 floats 19 cycles for 22, of 64 doubles misaligned 19 for 25). With
 * vectors of half a line both are best from nine vectors on, and a loop of one up to there. */
VEC_INLINE void ROUTINE(update)(TYPE a, const TYPE *u, const TYPE *v, TYPE *out, size_t n)
{
    const bool lines = sizeof(VEC) == 64;
    const VEC factor = OP(set1)(a);
    const size_t block = 4 * LANES;

    if (VEC_RARE(lines ? n >= block : n > 2 * block)) {
        size_t skip = -((uintptr_t)out / sizeof(TYPE)) % LANES;

        if (skip && n > block) {
            ROUTINE(edge)(false, true, a, u, v, out, skip);
            u += skip, v += skip, out += skip, n -= skip;
        }
        const bool far = !lines && vec_is_far(n * sizeof(TYPE) * 2);

        if (lines && VEC_RARE(n > 2 * block) && !vec_is_on_intel() &&
            ((uintptr_t)u % sizeof(VEC) || n > 8 * block)) {
            size_t done = ROUTINE(update_ahead)(a, u, v, out, n);

            u += done, v += done, out += done, n -= done;
        }
        for (; n >= block; n -= block, u += block, v += block, out += block) {
            if (VEC_RARE(far)) {
                for (size_t i = 0; i < block; i += 64 / sizeof(TYPE)) {
                    vec_ahead(u + i, VEC_AHEAD_TWO);
                    vec_ahead(v + i, VEC_AHEAD_TWO);
                }
            }
            STEP(0, OP(loadu)(u));
            STEP(1, OP(loadu)(u + LANES));
            STEP(2, OP(loadu)(u + 2 * LANES));
            STEP(3, OP(loadu)(u + 3 * LANES));
            /* As in reduce.h: u, v and out are counted on, not worked out behind the loop. */
            if (!lines)
                __asm__("" : "+r"(n));
        }
    }
    if (lines && n >= 2 * LANES) {
        STEP(0, OP(loadu)(u));
        STEP(1, OP(loadu)(u + LANES));
        u += 2 * LANES, v += 2 * LANES, out += 2 * LANES, n -= 2 * LANES;
    }
    for (; n >= LANES; n -= LANES, u += LANES, v += LANES, out += LANES)
        STEP(0, OP(loadu)(u));
    if (n)
        ROUTINE(edge)(false, false, a, u, v, out, n);
}
#undef STEP

/* Where an array is changed in place, each store comes right after its load: with loads that run
 * ahead of the stores, whichever of two lines they belong to, 2,560 doubles take AVX2 577 cycles on
 * Zen 5, and 361 like this, as loads and stores alone do. */
#define STEP(i)                                                                                    \
    OP(storeu)(x + i * LANES, OP(mul)(factor, OP(loadu)(x + i * LANES)));                          \
    VEC_IN_ORDER

VEC_INLINE void ROUTINE(scale)(TYPE a, TYPE *x, size_t n)
{
    const VEC factor = OP(set1)(a);
    const size_t block = 8 * LANES;

    if (n > block + LANES) {
        size_t skip = -((uintptr_t)x / sizeof(TYPE)) % LANES;

        if (skip) {
            ROUTINE(edge)(true, true, a, x, x, x, skip);
            x += skip, n -= skip;
        }
        const bool far = vec_is_far(n * sizeof(TYPE));
        for (; n >= block; n -= block, x += block) {
            if (VEC_RARE(far)) {
                for (size_t i = 0; i < block; i += 64 / sizeof(TYPE))
                    vec_ahead(x + i, VEC_AHEAD_TWO);
            }
            STEP(0);
            STEP(1);
            STEP(2);
            STEP(3);
            STEP(4);
            STEP(5);
            STEP(6);
            STEP(7);
        }
    }
    for (; sizeof(VEC) == 64 && n >= block / 2; n -= block / 2, x += block / 2) {
        STEP(0);
        STEP(1);
        STEP(2);
        STEP(3);
    }
    for (; n >= LANES; n -= LANES, x += LANES)
        STEP(0);
    if (n)
        ROUTINE(edge)(true, false, a, x, x, x, n);
}
#undef STEP
