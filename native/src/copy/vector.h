/* SPDX-License-Identifier: Apache-2.0 */
/* vector: long copies by vectors of one width, and copies that stream, made by including this with
 *   OKOSU_COPY_WIDTH      bytes of a vector: 16, 32 or 64
 *   OKOSU_COPY_NAME(x)    the name of a symbol of this file: x followed by the width's
 *   OKOSU_COPY_BEYOND(r)  the name of what serves route r beyond what its entry copies (entry_x86.S),
 *                         at least 8 vectors; not defined: nothing
 *   OKOSU_COPY_STREAM(p, v)  store v past the caches at p, which is aligned; not defined: none
 *   OKOSU_COPY_FENCE()    make streamed stores visible in order with what follows
 *   OKOSU_COPY_AHEAD      bytes by which the streaming loop prefetches its source
 *   OKOSU_COPY_LONG       copies of more bytes than this go by longer(), below; not defined: none */
#include "copy/lately.h"
#include "copy/route.h"
#include "copy/rows.h"
#include "copy/small.h"

#include <stdint.h>

#define W OKOSU_COPY_WIDTH

typedef uint64_t okosu_copy_vector __attribute__((vector_size(W), aligned(1), may_alias));
typedef uint64_t okosu_copy_aligned __attribute__((vector_size(W), aligned(W), may_alias));

/* A load may wait for an earlier store that has not left the core yet if the low 12 bits of their
 * addresses are alike. A forward loop meets that between one turn's stores and the next turn's
 * loads where dst lies less than ALIAS after src, modulo a page; a backward loop does not. */
enum { LINE = 64, PAGE = 4096, ALIAS = 4 * W };

static inline __attribute__((always_inline)) okosu_copy_vector load(const char *p)
{
    return *(const okosu_copy_vector *)p;
}

static inline __attribute__((always_inline)) void store(char *p, okosu_copy_vector v)
{
    *(okosu_copy_vector *)p = v;
}

/* Stays where it stands among the other stores: Intel's cores store two vectors of 32 bytes in a cycle if they
 * follow each other in one line. */
static inline __attribute__((always_inline)) void store_aligned(char *p, okosu_copy_vector v)
{
    *(okosu_copy_aligned *)p = v;
    __asm__ volatile("" : : : "memory");
}

/* Four vectors from the offset i on, all read before any is written. */
static inline __attribute__((always_inline)) void four_up(char *dst, const char *src, size_t i)
{
    okosu_copy_vector a = load(src + i), b = load(src + i + W);
    okosu_copy_vector c = load(src + i + 2 * W), d = load(src + i + 3 * W);
    store_aligned(dst + i, a);
    store_aligned(dst + i + W, b);
    store_aligned(dst + i + 2 * W, c);
    store_aligned(dst + i + 3 * W, d);
}

/* Four vectors up to the offset i. */
static inline __attribute__((always_inline)) void four_down(char *dst, const char *src, size_t i)
{
    okosu_copy_vector a = load(src + i - W), b = load(src + i - 2 * W);
    okosu_copy_vector c = load(src + i - 3 * W), d = load(src + i - 4 * W);
    store_aligned(dst + i - W, a);
    store_aligned(dst + i - 2 * W, b);
    store_aligned(dst + i - 3 * W, c);
    store_aligned(dst + i - 4 * W, d);
}

/* More than 2 * turn vectors, where `turn` is 4 or 8. The first vector and the last `turn` are read
 * before anything is written and written after all else, so that dst may lie before src in the same
 * memory, and so that neither the bytes before dst's first aligned address nor those that the loop
 * leaves need a loop. */
static inline __attribute__((always_inline)) void *forward(char *dst, const char *src, size_t n,
                                                           size_t turn)
{
    okosu_copy_vector head = load(src), tail[8];
    size_t end = n - turn * W;
#pragma GCC unroll 8
    for (size_t k = 0; k < turn; k++)
        tail[k] = load(src + end + k * W);
    for (size_t i = W - ((uintptr_t)dst & (W - 1)); i < end; i += turn * W) {
#ifdef OKOSU_COPY_LONG
        /* One register that moves and two bases: with two that move, which the compiler would make of
         * it, copies from L2 take a tenth longer (Zen 1). */
        __asm__("" : "+r"(i));
#endif
        four_up(dst, src, i);
        if (turn == 8)
            four_up(dst, src, i + 4 * W);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < turn; k++)
        store(dst + end + k * W, tail[k]);
    store(dst, head);
    return dst;
}

/* The mirror image: dst may lie after src in the same memory. */
static inline __attribute__((always_inline)) void *backward(char *dst, const char *src, size_t n,
                                                            size_t turn)
{
    okosu_copy_vector tail = load(src + n - W), head[8];
#pragma GCC unroll 8
    for (size_t k = 0; k < turn; k++)
        head[k] = load(src + k * W);
    for (size_t i = n - 1 - ((uintptr_t)(dst + n - 1) & (W - 1)); i > turn * W; i -= turn * W) {
        four_down(dst, src, i);
        if (turn == 8)
            four_down(dst, src, i - 4 * W);
    }
#pragma GCC unroll 8
    for (size_t k = 0; k < turn; k++)
        store(dst + k * W, head[k]);
    store(dst + n - W, tail);
    return dst;
}

/* More than 2 * turn vectors, whether or not the ranges overlap. Where they do not, the direction is
 * free: backward where dst lies less than `alias` after src, modulo a page. */
static inline __attribute__((always_inline)) void *in_turns(void *dst, const void *src, size_t n,
                                                            size_t turn, size_t alias)
{
    uintptr_t ahead = (uintptr_t)dst - (uintptr_t)src;
    if (ahead < n || ((ahead & (PAGE - 1)) < alias && -ahead >= n))
        return backward(dst, src, n, turn);
    return forward(dst, src, n, turn);
}

#ifdef OKOSU_COPY_LONG
/* The end of a loop of more than 32 turns is guessed wrong (Zen 1), which costs a copy of 3 KiB a tenth:
 * up to this size there are fewer turns of eight vectors. Stores of earlier turns, too, make loads
 * wait: where dst lies 64 to 480 bytes after src, modulo a page, copies of 4 KiB and more take up to 1.35
 * times as long forward. (To go backward more often would cost short copies more: there it is the
 * direction that is guessed wrong.) */
enum { LONG_TURNS_TO = 5120, LONG_ALIAS = 512 };

static __attribute__((noinline)) void *OKOSU_COPY_NAME(longer)(void *dst, const void *src, size_t n)
{
    if (n <= LONG_TURNS_TO)
        return in_turns(dst, src, n, 8, LONG_ALIAS);
    return in_turns(dst, src, n, 4, LONG_ALIAS);
}
#endif

/* More than 8 vectors. */
static inline __attribute__((always_inline)) void *large(void *dst, const void *src, size_t n)
{
#ifdef OKOSU_COPY_LONG
    if (__builtin_expect(n > OKOSU_COPY_LONG, 0))
        return OKOSU_COPY_NAME(longer)(dst, src, n);
#endif
    return in_turns(dst, src, n, 4, ALIAS);
}

void *OKOSU_COPY_NAME(okosu_copy_large)(void *dst, const void *src, size_t n)
{
    return large(dst, src, n);
}

#ifdef OKOSU_COPY_STREAM
/* More than 8 vectors. Where the operands lie at different places in their lines, the string instruction takes up to
 * a fifth longer than vectors of 32 bytes, in whichever cache they are (Zen 3). */
static __attribute__((noinline)) void *OKOSU_COPY_NAME(guess)(void *dst, const void *src, size_t n,
                                                              size_t most)
{
    if (W == 32 && ((uintptr_t)dst - (uintptr_t)src) % LINE)
        return large(dst, src, n);
    if (n <= most && okosu_copy_was_lately(dst, n, most))
        return large(dst, src, n);
    return okosu_copy_row_rep_line.copy(dst, src, n);
}

static void *OKOSU_COPY_NAME(okosu_copy_lately)(void *dst, const void *src, size_t n)
{
    if (n <= 8 * W)
        return OKOSU_COPY_NAME(okosu_copy)(dst, src, n);
    return OKOSU_COPY_NAME(guess)(dst, src, n, okosu_copy_lately_most());
}

static void *OKOSU_COPY_NAME(okosu_copy_lately_move)(void *dst, const void *src, size_t n)
{
    if ((uintptr_t)dst - (uintptr_t)src < n || (uintptr_t)src - (uintptr_t)dst < n)
        return OKOSU_COPY_NAME(okosu_copy)(dst, src, n);
    return OKOSU_COPY_NAME(okosu_copy_lately)(dst, src, n);
}
#endif

#ifdef OKOSU_COPY_BEYOND
/* What an entry calls: the route says whether this variant serves n, or lately does, which is reached
 * without a look at the classes. */
#define BEYOND(r)                                                                                  \
    void *OKOSU_COPY_BEYOND(r)(void *dst, const void *src, size_t n)                               \
    {                                                                                              \
        uint64_t limits = okosu_copy_route_limits(r);                                              \
        if (__builtin_expect(n <= okosu_copy_own_limit(limits), 1))                                \
            return large(dst, src, n);                                                             \
        if (r == OKOSU_COPY_ANY && n <= okosu_copy_second_limit(limits))                           \
            return OKOSU_COPY_NAME(guess)(dst, src, n, okosu_copy_second_limit(limits));           \
        return okosu_copy_route_rest(r)(dst, src, n);                                              \
    }
BEYOND(0)
BEYOND(1)
BEYOND(2)
BEYOND(3)
#endif

#ifdef OKOSU_COPY_STREAM
/* Below this size the fence and the lines that leave the core half written cost more than streaming
 * saves. */
enum { STREAM_FROM = 2048 };
/* Intel's cores (Emerald Rapids): so far ahead the source is fetched into L2, the first part of it before the loop.
 * Fetched past L2, as is best on AMD's, its lines take up the buffers that the streamed stores need, too: 1.5 to 1.8
 * times as long. */
enum { INTEL_AHEAD = 3072 };
/* There large copies take another twentieth to twelfth less by four pages in turn, each fetched a turn ahead. */
enum { INTEL_PAGES = 4 * PAGE, INTEL_PAGES_FROM = 256 << 10 };

/* `bytes` (128 or 256) from `src` to whole lines, all read before any is written. */
static inline __attribute__((always_inline)) void stream_up(char *dst, const char *src,
                                                            size_t bytes)
{
    okosu_copy_vector v[256 / W];
#pragma GCC unroll 16
    for (size_t k = 0; k < bytes / W; k++)
        v[k] = load(src + k * W);
#pragma GCC unroll 16
    for (size_t k = 0; k < bytes / W; k++) {
        OKOSU_COPY_STREAM(dst + k * W, v[k]);
        /* In this order: the parts of a line that do not follow each other may go to memory one by one. */
        __asm__ volatile("" : : : "memory");
    }
}

static inline __attribute__((always_inline)) void *stream(void *to, const void *from, size_t n,
                                                          bool intel)
{
    char *dst = to;
    const char *src = from;
    /* Ranges that overlap are at least half in the caches, and the order of their bytes matters. */
    if (n < STREAM_FROM || (uintptr_t)dst - (uintptr_t)src < n ||
        (uintptr_t)src - (uintptr_t)dst < n)
        return OKOSU_COPY_NAME(okosu_copy)(to, from, n);
    if (intel)
        for (size_t i = 0; i < (n < INTEL_AHEAD ? n : INTEL_AHEAD); i += 64)
            __builtin_prefetch(src + i, 0, 2);
    store(dst, load(src));
#if W < 64
    /* Only whole lines are streamed, because a part of one would go to memory by itself. */
    for (size_t k = W; k < 64; k += W)
        store(dst + k, load(src + k));
#endif
    size_t i = 64 - ((uintptr_t)dst & 63), end = n - 256;
    if (intel && n >= INTEL_PAGES_FROM)
        for (; i + 2 * INTEL_PAGES <= n; i += INTEL_PAGES)
            for (size_t k = 0; k < PAGE; k += 128)
                for (size_t page = k; page < INTEL_PAGES; page += PAGE) {
                    __builtin_prefetch(src + i + page + INTEL_PAGES, 0, 2);
                    __builtin_prefetch(src + i + page + INTEL_PAGES + 64, 0, 2);
                    stream_up(dst + i + page, src + i + page, 128);
                }
    for (; i <= end; i += 256) {
        if (!intel)
#pragma GCC unroll 4
            for (size_t k = 0; k < 256; k += 64)
                __builtin_prefetch(src + i + OKOSU_COPY_AHEAD + k, 0, 0);
        else if (i + INTEL_AHEAD < n)
#pragma GCC unroll 4
            for (size_t k = 0; k < 256; k += 64)
                __builtin_prefetch(src + i + INTEL_AHEAD + k, 0, 2);
        stream_up(dst + i, src + i, 256);
    }
    OKOSU_COPY_FENCE();
    /* Fewer than 256 bytes are left at the end. */
    OKOSU_COPY_NAME(okosu_copy)(dst + i, src + i, n - i);
    return to;
}

static void *OKOSU_COPY_NAME(okosu_copy_nt)(void *dst, const void *src, size_t n)
{
    return stream(dst, src, n, false);
}

static void *OKOSU_COPY_NAME(okosu_copy_nt_intel)(void *dst, const void *src, size_t n)
{
    return stream(dst, src, n, true);
}
#endif
