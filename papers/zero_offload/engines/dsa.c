/* SPDX-License-Identifier: Apache-2.0 */
/* dsa: Intel's Data Streaming Accelerator fills memory by the process's own addresses, past the
 * caches. It needs a work queue that the administrator has enabled for users (accel-config).
 *
 * Descriptors go by write() to the queue's device (Linux 6.10, and older kernels with the fix of
 * INTEL-SA-01084), not by a store to its portal, which newer kernels allow to CAP_SYS_RAWIO only.
 * Tested against a mock; *not measured*: no machine that this project has had has one. So it stands
 * with the paper and not in the product: meson's option `engines` adds it in a checkout. */
#include "engine.h"
#include "guard.h"
#include "library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/idxd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TICKETS = 16 };
/* What is used of libaccel-config's enumerations. */
enum { DEVICE_DSA = 0, QUEUE_ENABLED = 1, QUEUE_FOR_USERS = 2 };

static struct {
    int (*new_)(void **);
    void *(*unref)(void *);
    void *(*first_device)(void *);
    void *(*next_device)(void *);
    int (*device_type)(void *);
    void *(*first_queue)(void *);
    void *(*next_queue)(void *);
    int (*queue_state)(void *);
    int (*queue_type)(void *);
    int (*queue_blocks)(void *);
    uint64_t (*queue_most)(void *);
    int (*queue_path)(void *, char *, size_t);
} accfg;

static const struct zerod_symbol symbols[] = {
    {"accfg_new", &accfg.new_},
    {"accfg_unref", &accfg.unref},
    {"accfg_device_get_first", &accfg.first_device},
    {"accfg_device_get_next", &accfg.next_device},
    {"accfg_device_get_type", &accfg.device_type},
    {"accfg_wq_get_first", &accfg.first_queue},
    {"accfg_wq_get_next", &accfg.next_queue},
    {"accfg_wq_get_state", &accfg.queue_state},
    {"accfg_wq_get_type", &accfg.queue_type},
    {"accfg_wq_get_block_on_fault", &accfg.queue_blocks},
    {"accfg_wq_get_max_transfer_size", &accfg.queue_most},
    {"accfg_wq_get_user_dev_path", &accfg.queue_path},
    {NULL, NULL},
};

/* A clearing: what is left of it, of which one piece is under way. */
struct fill {
    struct dsa_completion_record record; /* the hardware writes it */
    unsigned char *at;
    size_t left, piece;
    bool used;
} __attribute__((aligned(64)));

struct dsa {
    void *library;
    int queue;
    size_t most; /* bytes of a piece */
    bool blocks; /* the hardware waits for a page that is not there */
    struct fill fills[TICKETS];
};

/* The first queue that users may open. 0 or -errno. */
static int open_queue(struct dsa *dsa, void *context)
{
    char path[PATH_MAX];

    for (void *device = accfg.first_device(context); device; device = accfg.next_device(device)) {
        if (accfg.device_type(device) != DEVICE_DSA)
            continue;
        for (void *queue = accfg.first_queue(device); queue; queue = accfg.next_queue(queue)) {
            if (accfg.queue_state(queue) != QUEUE_ENABLED ||
                accfg.queue_type(queue) != QUEUE_FOR_USERS ||
                accfg.queue_path(queue, path, sizeof(path)) < 0)
                continue;
            dsa->queue = open(path, O_RDWR | O_CLOEXEC);
            dsa->most = accfg.queue_most(queue);
            dsa->blocks = accfg.queue_blocks(queue) > 0;
            if (dsa->queue >= 0 && dsa->most)
                return 0;
            if (dsa->queue >= 0)
                close(dsa->queue);
        }
    }
    return -ENODEV;
}

static int open_dsa(void **state, bool asked, char *about, size_t room)
{
    void *library = zerod_library_open("libaccel-config.so.1", symbols, about, room),
         *context = NULL;
    struct dsa *dsa;
    int rc;

    if (!library)
        return -ENOTSUP;
    dsa = aligned_alloc(64, sizeof(*dsa));
    if (dsa) {
        memset(dsa, 0, sizeof(*dsa));
        dsa->library = library;
    }
    rc = dsa && accfg.new_(&context) == 0 ? open_queue(dsa, context) : -ENOMEM;
    if (context)
        accfg.unref(context);
    if (!rc) {
        *state = dsa;
        *about = '\0';
        return 0;
    }
    snprintf(about, room, "no work queue of a DSA is enabled for users (accel-config list)");
    zerod_library_close(library);
    free(dsa);
    return rc;
}

/* The next piece. 0 or -errno. */
static int send_piece(struct dsa *dsa, struct fill *fill)
{
    struct dsa_hw_desc descriptor = {0};
    ssize_t sent;

    fill->piece = fill->left < dsa->most ? fill->left : dsa->most;
    memset(&fill->record, 0, sizeof(fill->record));
    descriptor.opcode = DSA_OPCODE_MEMFILL;
    descriptor.flags = IDXD_OP_FLAG_CRAV | IDXD_OP_FLAG_RCR | (dsa->blocks ? IDXD_OP_FLAG_BOF : 0);
    descriptor.completion_addr = (uint64_t)(uintptr_t)&fill->record;
    descriptor.pattern = 0;
    descriptor.dst_addr = (uint64_t)(uintptr_t)fill->at;
    descriptor.xfer_size = (uint32_t)fill->piece;
    do
        sent = write(dsa->queue, &descriptor, sizeof(descriptor));
    while (sent < 0 && (errno == EINTR || errno == EAGAIN));
    return sent == (ssize_t)sizeof(descriptor) ? 0 : sent < 0 ? -errno : -EIO;
}

static int submit(void *state, const struct zerod_range *range, uint64_t *ticket)
{
    struct dsa *dsa = state;
    struct fill *fill;
    int rc;

    for (*ticket = 0; *ticket < TICKETS && dsa->fills[*ticket].used; ++*ticket)
        ;
    if (*ticket == TICKETS)
        return -EBUSY;
    fill = &dsa->fills[*ticket];
    fill->at = range->at;
    fill->left = range->bytes;
    rc = send_piece(dsa, fill);
    fill->used = !rc;
    return rc;
}

static void touch(void *at, size_t bytes)
{
    *(volatile unsigned char *)at = 0;
}

/* A piece has ended: whether there is more to do. 1: done; 0: the next is under way; -errno. */
static int go_on(struct dsa *dsa, struct fill *fill, unsigned status)
{
    size_t done = fill->piece;

    if (status == DSA_COMP_PAGE_FAULT_NOBOF) {
        done = fill->record.bytes_completed;
        if (done >= fill->piece || zerod_guard(touch, fill->at + done, 1))
            return -EFAULT;
    } else if (status != DSA_COMP_SUCCESS) {
        return -EIO;
    }
    fill->at += done;
    fill->left -= done;
    return fill->left ? send_piece(dsa, fill) : 1;
}

static int poll_dsa(void *state, uint64_t ticket)
{
    struct dsa *dsa = state;
    struct fill *fill = &dsa->fills[ticket];
    unsigned status = __atomic_load_n(&fill->record.status, __ATOMIC_ACQUIRE);
    int rc = status ? go_on(dsa, fill, status & DSA_COMP_STATUS_MASK) : 0;

    fill->used = !rc;
    return rc;
}

/* The driver drains the queue before the descriptor is gone. */
static void close_dsa(void *state)
{
    struct dsa *dsa = state;

    close(dsa->queue);
    zerod_library_close(dsa->library);
    free(dsa);
}

const struct zerod_engine zerod_engine_dsa = {
    .name = "dsa",
    .doc = "Intel's Data Streaming Accelerator fills memory, past the caches",
    .depth = 8,
    .open = open_dsa,
    .submit = submit,
    .poll = poll_dsa,
    .close = close_dsa,
};
