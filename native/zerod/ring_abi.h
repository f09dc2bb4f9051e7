/* SPDX-License-Identifier: Apache-2.0 */
/* ring_abi: the interface between /dev/hugetlb_zero and the daemon, with the layout of the kernel's
 * header uapi/linux/hugetlb_zero.h, which no distribution has. */
#pragma once

#include <stdint.h>
#include <sys/ioctl.h>

#define ZEROD_RING_DEVICE "/dev/hugetlb_zero"
#define ZEROD_RING_VERSION 1
#define ZEROD_RING_SLOTS 64

/* A post, or its answer: status 0 once the whole page reads as zero. */
struct zerod_ring_entry {
    uint64_t seq;
    uint32_t slot;
    int32_t status;
};

/* Counters are never reset; entry n is at [n % slots]. Each is written by one side only: first the
 * entry, then the counter (release), which the other side reads (acquire). */
struct zerod_ring_shared {
    uint32_t posted, pad0[15];   /* kernel */
    uint32_t taken, pad1[15];    /* daemon */
    uint32_t answered, pad2[15]; /* daemon */
    uint32_t seen, pad3[15];     /* kernel */
    struct zerod_ring_entry post[ZEROD_RING_SLOTS], answer[ZEROD_RING_SLOTS];
};

struct zerod_ring_setup {
    uint32_t version, slots;
    uint64_t page_size; /* 0: the default huge page */
    int32_t memory_fd;  /* out */
    uint32_t ring_size; /* out */
    uint64_t reserved[2];
};

#define ZEROD_RING_SETUP _IOWR(0xBC, 0x00, struct zerod_ring_setup)
#define ZEROD_RING_KICK _IO(0xBC, 0x01)
