/* SPDX-License-Identifier: Apache-2.0 */
/* copy_inline: copies whose size is known when the program is compiled, as straight lines of vector
 * moves: no call, no loop, no branch.
 *
 * okosu_copy_16, _32, _64, ... _4096 copy exactly so many bytes from src to dst, at any alignment;
 * the two must not overlap. The vectors are as wide as the flags of the file that includes this
 * allow (-mavx2, -mavx512f, -march=native; 16 bytes without any): with -mavx512f 256 bytes take
 * four moves each way, without flags sixteen. The code of okosu_copy_4096 is 1 to 4 KiB long, so
 * keep the large ones for places that are few and hot.
 *
 * Needs GCC or Clang; C or C++. Nothing has to be linked. */
#ifndef OKOSU_COPY_INLINE_H
#define OKOSU_COPY_INLINE_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__AVX512F__)
#define OKOSU_COPY_INLINE_WIDTH 64
#elif defined(__AVX__)
#define OKOSU_COPY_INLINE_WIDTH 32
#else
#define OKOSU_COPY_INLINE_WIDTH 16
#endif

#define OKOSU_COPY_INLINE static __inline__ __attribute__((__always_inline__, __unused__))

/* Vectors and integers at any address, which may alias any other type. */
typedef long long okosu_copy_inline_16
    __attribute__((__vector_size__(16), __aligned__(1), __may_alias__));
#if OKOSU_COPY_INLINE_WIDTH >= 32
typedef long long okosu_copy_inline_32
    __attribute__((__vector_size__(32), __aligned__(1), __may_alias__));
#endif
#if OKOSU_COPY_INLINE_WIDTH >= 64
typedef long long okosu_copy_inline_64
    __attribute__((__vector_size__(64), __aligned__(1), __may_alias__));
#endif

#define OKOSU_COPY_INLINE_ONE(bytes)                                                               \
    OKOSU_COPY_INLINE void okosu_copy_##bytes(void *dst, const void *src)                          \
    {                                                                                              \
        *(okosu_copy_inline_##bytes *)dst = *(const okosu_copy_inline_##bytes *)src;               \
    }

/* Copies of two vectors, and of four: all loads come before any store, so that no load waits for a
 * store whose address it might share. */
#define OKOSU_COPY_INLINE_TWO(bytes, vector)                                                       \
    OKOSU_COPY_INLINE void okosu_copy_##bytes(void *dst, const void *src)                          \
    {                                                                                              \
        okosu_copy_inline_##vector *to = (okosu_copy_inline_##vector *)dst;                        \
        const okosu_copy_inline_##vector *from = (const okosu_copy_inline_##vector *)src;          \
        okosu_copy_inline_##vector a = from[0], b = from[1];                                       \
        to[0] = a;                                                                                 \
        to[1] = b;                                                                                 \
    }

#define OKOSU_COPY_INLINE_FOUR(bytes, vector)                                                      \
    OKOSU_COPY_INLINE void okosu_copy_##bytes(void *dst, const void *src)                          \
    {                                                                                              \
        okosu_copy_inline_##vector *to = (okosu_copy_inline_##vector *)dst;                        \
        const okosu_copy_inline_##vector *from = (const okosu_copy_inline_##vector *)src;          \
        okosu_copy_inline_##vector a = from[0], b = from[1], c = from[2], d = from[3];             \
        to[0] = a;                                                                                 \
        to[1] = b;                                                                                 \
        to[2] = c;                                                                                 \
        to[3] = d;                                                                                 \
    }

/* One half after the other. */
#define OKOSU_COPY_INLINE_HALVES(bytes, half)                                                      \
    OKOSU_COPY_INLINE void okosu_copy_##bytes(void *dst, const void *src)                          \
    {                                                                                              \
        okosu_copy_##half(dst, src);                                                               \
        okosu_copy_##half((char *)dst + (half), (const char *)src + (half));                       \
    }

OKOSU_COPY_INLINE_ONE(16)
#if OKOSU_COPY_INLINE_WIDTH == 16
OKOSU_COPY_INLINE_TWO(32, 16)
OKOSU_COPY_INLINE_FOUR(64, 16)
OKOSU_COPY_INLINE_HALVES(128, 64)
OKOSU_COPY_INLINE_HALVES(256, 128)
#elif OKOSU_COPY_INLINE_WIDTH == 32
OKOSU_COPY_INLINE_ONE(32)
OKOSU_COPY_INLINE_TWO(64, 32)
OKOSU_COPY_INLINE_FOUR(128, 32)
OKOSU_COPY_INLINE_HALVES(256, 128)
#else
OKOSU_COPY_INLINE_ONE(32)
OKOSU_COPY_INLINE_ONE(64)
OKOSU_COPY_INLINE_TWO(128, 64)
OKOSU_COPY_INLINE_FOUR(256, 64)
#endif
OKOSU_COPY_INLINE_HALVES(512, 256)
OKOSU_COPY_INLINE_HALVES(1024, 512)
OKOSU_COPY_INLINE_HALVES(2048, 1024)
OKOSU_COPY_INLINE_HALVES(4096, 2048)

#undef OKOSU_COPY_INLINE_ONE
#undef OKOSU_COPY_INLINE_TWO
#undef OKOSU_COPY_INLINE_FOUR
#undef OKOSU_COPY_INLINE_HALVES

#ifdef __cplusplus
}
#endif

#endif
