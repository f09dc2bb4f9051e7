/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_mailbox: the memory that the CPU and the running GPU program share, in pinned host
 * memory. */
#ifndef ZEROD_CUDA_MAILBOX_H
#define ZEROD_CUDA_MAILBOX_H

#include <stdint.h>

#define CUDA_MAILBOX_JOBS 16
#define CUDA_MAILBOX_THREADS 1024

/* Each side writes only its own lines. Job n is at [n % JOBS]; the counters are never reset. */
struct cuda_mailbox {
    uint32_t posted, pad0[15]; /* by the CPU, after the job: release */
    uint32_t done, pad1[15];   /* by the GPU, after the stores: release, system scope */
    uint32_t stop, pad2[15];   /* by the CPU: return when nothing is posted */
    struct {
        uint64_t at, bytes; /* the device's address */
    } job[CUDA_MAILBOX_JOBS];
};

#endif
