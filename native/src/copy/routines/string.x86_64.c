/* SPDX-License-Identifier: Apache-2.0 */
/* string: the variants that use x86's string instructions: rep movsb alone, and the SIMD memcpy of
 * S. Saito and S. Oikawa, "Utilization of a SIMD unit in the OS Kernel", figure 5: blocks of 512
 * bytes by movdqu while there are so many, the rest by a string instruction. */
#include "copy/route.h"
#include "copy/rows.h"
#include "copy/small.h"

/* The direction flag is clear, as the ABI has it at every call. */
static inline __attribute__((always_inline)) void string_copy(void *dst, const void *src, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(n) : : "memory");
}

static void *copy_rep_movsb(void *dst, const void *src, size_t n)
{
    string_copy(dst, src, n);
    return dst;
}

/* Ranges that overlap go by vectors: with the direction flag set the string instructions move a byte at a
 * time, and so they do forward where less than a line lies between the ranges' starts. */
static void *move_rep_movsb(void *to, const void *from, size_t n)
{
    if ((uintptr_t)to - (uintptr_t)from < n || (uintptr_t)from - (uintptr_t)to < n)
        return okosu_copy_own(OKOSU_COPY_ANY)->variant->move(to, from, n);
    return copy_rep_movsb(to, from, n);
}

/* Where dst lies less than a line after src, modulo a page, the string instruction takes each load
 * for one of what it has just stored: on Zen 3 it is 20 times slower there than vectors are, which
 * then go backward (20,000 bytes: 6.9 us and 0.35 us). */
static inline __attribute__((always_inline)) bool is_aliased(const void *dst, const void *src)
{
    enum { PAGE = 4096, LINE = 64 };
    return (((uintptr_t)dst - (uintptr_t)src) & (PAGE - 1)) - 1 < LINE - 1;
}

/* The bytes before the first line of dst are copied by vectors, because on some processors with
 * fast short string copies a string copy whose destination is not on a line is slower by an order
 * of magnitude (Zen 3, glibc's bug 30994). The rest may have any length. */
static void *copy_rep_line(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    enum { LINE = 64 };
    if (n <= LINE) {
        okosu_copy_small(dst, src, n);
        return to;
    }
    if (is_aliased(dst, src))
        return okosu_copy_own(OKOSU_COPY_ANY)->variant->move(to, from, n);
    size_t head = LINE - ((uintptr_t)dst & (LINE - 1));
    for (size_t k = 0; k < LINE; k += sizeof(okosu_u128))
        *(okosu_u128 *)(dst + k) = *(const okosu_u128 *)(src + k);
    string_copy(dst + head, src + head, n - head);
    /* Lines that the instruction has still under way hold up the loads that come next: 5 to 20 %
     * where nothing was in a cache. Where all was, the fence costs nothing. */
    __asm__ volatile("sfence" : : : "memory");
    return to;
}

static void *move_rep_line(void *to, const void *from, size_t n)
{
    /* Where the ranges lie less than a line apart, the first vectors would overwrite bytes that
     * have not been read. */
    if ((uintptr_t)to - (uintptr_t)from < n || (uintptr_t)from - (uintptr_t)to < n)
        return okosu_copy_row_sse2.move(to, from, n);
    return copy_rep_line(to, from, n);
}

enum { BLOCK = 512, MOVE = 16 };

static inline __attribute__((always_inline)) void copy_block(char *dst, const char *src)
{
#pragma GCC unroll 32
    for (size_t k = 0; k < BLOCK; k += MOVE)
        *(okosu_u128 *)(dst + k) = *(const okosu_u128 *)(src + k);
}

static void *copy_block512(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    for (; n >= BLOCK; n -= BLOCK, dst += BLOCK, src += BLOCK)
        copy_block(dst, src);
    string_copy(dst, src, n);
    return to;
}

/* The paper's routine is a memcpy only; this copies its blocks from the end, and the rest in
 * words. */
static void *move_block512(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    if ((uintptr_t)dst - (uintptr_t)src >= n)
        return copy_block512(to, from, n);
    for (; n >= BLOCK; n -= BLOCK)
        for (size_t k = 0; k < BLOCK; k += MOVE)
            *(okosu_u128 *)(dst + n - MOVE - k) = *(const okosu_u128 *)(src + n - MOVE - k);
    okosu_copy_row_loop8.move(dst, src, n);
    return to;
}

OKOSU_ROUTINE(copy, 30, rep_movsb) = {
    .about = {.name = "rep-movsb", .doc = "one string instruction"},
    .copy = copy_rep_movsb,
    .move = move_rep_movsb,
};

OKOSU_ROUTINE(copy, 40, rep_line) = {
    .about = {.name = "rep-line",
              .needs = OKOSU_CPU_SSE2,
              .doc = "to a line of the destination by vectors, the rest by one string instruction"},
    .copy = copy_rep_line,
    .move = move_rep_line,
};

OKOSU_ROUTINE(copy, 50, block512) = {
    .about = {.name = "block512",
              .needs = OKOSU_CPU_SSE2,
              .doc = "the paper's: 512-byte blocks by movdqu, the rest by a string instruction"},
    .copy = copy_block512,
    .move = move_block512,
};
