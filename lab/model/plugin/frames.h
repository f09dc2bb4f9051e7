/* SPDX-License-Identifier: GPL-2.0-only */
/* A cache of the physical addresses of one CPU's pages: asking QEMU takes longer than the whole
 * model. It holds what a processor may hold in its TLB: the guest flushes before it relies on a
 * changed mapping, and each kind of flush empties this cache. */
#ifndef OKOSU_MODEL_FRAMES_H
#define OKOSU_MODEL_FRAMES_H

#include <stdint.h>
#include <string.h>

enum { FRAMES = 4096, FRAMES_PAGE_SHIFT = 12, FRAMES_ASK = 1024 };

/* Page tables of five levels translate so many bits, and a kernel that has them uses all. */
enum { FRAMES_ADDRESS_BITS = 57 };

struct frame {
    uint64_t page; /* its number, and above it the round in which the entry is valid */
    uint64_t physical;
};

struct frames {
    struct frame frame[FRAMES];
    uint64_t round; /* from 1 on, so that an entry of zeros is not valid */
    uint32_t asked;
};

#define FRAMES_ROUND_SHIFT (FRAMES_ADDRESS_BITS - FRAMES_PAGE_SHIFT)
#define FRAMES_ROUNDS (1u << (64 - FRAMES_ROUND_SHIFT))

static inline uint64_t frames_tag(const struct frames *frames, uint64_t address)
{
    unsigned ignored = 64 - FRAMES_ADDRESS_BITS;
    uint64_t page = address << ignored >> (ignored + FRAMES_PAGE_SHIFT);

    return frames->round << FRAMES_ROUND_SHIFT | page;
}

static inline struct frame *frames_place(struct frames *frames, uint64_t address)
{
    return &frames->frame[(address >> FRAMES_PAGE_SHIFT) % FRAMES];
}

static inline void frames_empty(struct frames *frames)
{
    if (++frames->round == FRAMES_ROUNDS) {
        memset(frames->frame, 0, sizeof(frames->frame));
        frames->round = 1;
    }
}

#endif
