/* SPDX-License-Identifier: Apache-2.0 */
/* cuda: an NVIDIA GPU's copy engine writes zeros from a buffer of its own over the bus, which
 * occupies none of its multiprocessors. */
#include "cuda_driver.h"

#include <errno.h>
#include <stdlib.h>

enum { TICKETS = 16 };
#define ZEROS ((size_t)8 << 20)

struct copier {
    struct cuda_base base;
    cuda_pointer zeros;
    void *event[TICKETS];
    bool used[TICKETS];
};

static void close_cuda(void *state)
{
    struct copier *copier = state;

    cuda.set_current(copier->base.context);
    cuda.wait_stream(copier->base.stream);
    for (size_t i = 0; i < TICKETS; i++) {
        if (copier->event[i])
            cuda.end_event(copier->event[i]);
    }
    if (copier->zeros)
        cuda.free(copier->zeros);
    cuda_base_close(&copier->base);
    free(copier);
}

static int open_cuda(void **state, bool asked, char *about, size_t room)
{
    struct copier *copier = calloc(1, sizeof(*copier));
    int rc = copier ? cuda_base_open(&copier->base, about, room) : -ENOMEM, status;

    if (rc) {
        free(copier);
        return rc;
    }
    status = cuda.alloc(&copier->zeros, ZEROS);
    if (!status)
        status = cuda.fill(copier->zeros, 0, ZEROS / 4);
    /* The memset is asynchronous, and a stream of ours does not wait for it. */
    if (!status)
        status = cuda.wait_stream(NULL);
    for (size_t i = 0; i < TICKETS && !status; i++)
        status = cuda.event(&copier->event[i], CUDA_NO_TIMING);
    if (status) {
        rc = cuda_base_fail("the device gives no memory or events", status, about, room);
        close_cuda(copier);
        return rc;
    }
    *state = copier;
    return 0;
}

static int submit(void *state, const struct zerod_range *range, uint64_t *ticket)
{
    struct copier *copier = state;
    void *stream = copier->base.stream;
    int status = cuda.set_current(copier->base.context);

    for (*ticket = 0; *ticket < TICKETS && copier->used[*ticket]; ++*ticket)
        ;
    if (*ticket == TICKETS)
        return -EBUSY;
    for (size_t done = 0; done < range->bytes && !status; done += ZEROS) {
        size_t now = range->bytes - done < ZEROS ? range->bytes - done : ZEROS;

        status = cuda.copy(range->at + done, copier->zeros, now, stream);
    }
    if (!status)
        status = cuda.record(copier->event[*ticket], stream);
    /* A part may be in progress already: no other engine may begin before it has ended. */
    if (status)
        cuda.wait_stream(stream);
    copier->used[*ticket] = !status;
    return status ? -EIO : 0;
}

static int poll_cuda(void *state, uint64_t ticket)
{
    struct copier *copier = state;
    int status = cuda.set_current(copier->base.context);

    if (!status)
        status = cuda.query(copier->event[ticket]);
    if (status == CUDA_NOT_READY)
        return 0;
    copier->used[ticket] = false;
    return status ? -EIO : 1;
}

const struct zerod_engine zerod_engine_cuda = {
    .name = "cuda",
    .doc = "the copy engine of an NVIDIA GPU writes zeros over the bus",
    .depth = 8,
    .open = open_cuda,
    .pin = cuda_base_pin,
    .unpin = cuda_base_unpin,
    .chunk = cuda_base_chunk,
    .submit = submit,
    .poll = poll_cuda,
    .close = close_cuda,
};
