/* SPDX-License-Identifier: Apache-2.0 */
/* neon: 16-byte stores in pairs. dc-zva: blocks made zero without reading them; part blocks at both
 * ends, and every byte but 0, are set as neon does. */
#include "zero/rows.h"
#include "zero/small.h"

#include <arm_neon.h>

/* vst1q_u8 takes any alignment; the compiler joins neighbouring stores to stp. */
static void *set(void *start, int byte, size_t n)
{
    unsigned char *p = start, *end = p + n;

    if (n < 16) {
        okosu_zero_upto16(p, byte, n);
        return start;
    }
    uint8x16_t v = vdupq_n_u8((uint8_t)byte);
    vst1q_u8(p, v);
    vst1q_u8(end - 16, v);
    if (n <= 32)
        return start;
    vst1q_u8(p + 16, v);
    vst1q_u8(end - 32, v);
    if (n <= 64)
        return start;
    vst1q_u8(p + 32, v);
    vst1q_u8(p + 48, v);
    vst1q_u8(end - 64, v);
    vst1q_u8(end - 48, v);
    if (n <= 128)
        return start;
    p = (unsigned char *)(((uintptr_t)p + 64) & -(uintptr_t)16);
    end -= 64;
    do {
        vst1q_u8(p, v);
        vst1q_u8(p + 16, v);
        vst1q_u8(p + 32, v);
        vst1q_u8(p + 48, v);
        p += 64;
    } while (p < end);
    return start;
}

/* Bytes that one DC ZVA makes zero: DCZID_EL0 holds log2 of it in words of 4 bytes. */
static size_t block_bytes(void)
{
    uint64_t id;

    __asm__("mrs %0, dczid_el0" : "=r"(id));
    return (size_t)4 << (id & 15);
}

enum { LEAST_BLOCKS = 256 };

static void *set_blocks(void *start, int byte, size_t n)
{
    unsigned char *p = start, *end = p + n;

    if ((unsigned char)byte || n < LEAST_BLOCKS)
        return set(start, byte, n);
    size_t block = block_bytes();
    if (n < 2 * block)
        return set(start, byte, n);
    /* The first and the last block, whole or not, with ordinary stores. */
    set(start, 0, block);
    set(end - block, 0, block);
    p = (unsigned char *)(((uintptr_t)p + block - 1) & -(uintptr_t)block);
    end = (unsigned char *)((uintptr_t)end & -(uintptr_t)block);
    for (; p < end; p += block)
        __asm__ volatile("dc zva, %0" : : "r"(p) : "memory");
    return start;
}

OKOSU_ROUTINE(zero, 30, neon) = {
    .about = {"neon", OKOSU_CPU_NEON, "16-byte stores"},
    .set = set,
};

OKOSU_ROUTINE(zero, 60, dc_zva) = {
    .about = {"dc-zva", OKOSU_CPU_NEON | OKOSU_CPU_DCZVA,
              "whole blocks by dc zva; bytes other than 0 as neon"},
    .set = set_blocks,
};
