/* SPDX-License-Identifier: Apache-2.0 */
/* mock_accel_config: a libaccel-config.so.1 with one DSA, whose work queue is a FIFO that a thread
 * reads descriptors from.
 *
 * MOCK_DSA: none (no queue for users) | leaves-byte | never | fails | faults (each third page that
 * a piece comes to is not there); or a file that says so. MOCK_DSA_MOST: bytes of a piece (default
 * 2 MiB) */
#include "mock_told.h"

#include <fcntl.h>
#include <linux/idxd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static char path[64];
static pthread_t hardware;

static bool is(const char *what)
{
    return strcmp(told("MOCK_DSA"), what) == 0;
}

static void carry_out(const struct dsa_hw_desc *descriptor)
{
    struct dsa_completion_record *record =
        (struct dsa_completion_record *)(uintptr_t)descriptor->completion_addr;
    unsigned char *at = (unsigned char *)(uintptr_t)descriptor->dst_addr;
    size_t bytes = descriptor->xfer_size;
    uint8_t status = is("fails") ? DSA_COMP_INVALID_FLAGS : DSA_COMP_SUCCESS;
    static unsigned faults;

    if (descriptor->opcode != DSA_OPCODE_MEMFILL || descriptor->completion_addr % 32 ||
        !(descriptor->flags & IDXD_OP_FLAG_CRAV) || !(descriptor->flags & IDXD_OP_FLAG_RCR))
        status = DSA_COMP_BAD_OPCODE;
    while (is("never"))
        usleep(1000);
    if (is("faults") && bytes > 8192 && ++faults % 3) {
        bytes = 8192;
        status = DSA_COMP_PAGE_FAULT_NOBOF;
        record->bytes_completed = (uint32_t)bytes;
    }
    if (status == DSA_COMP_SUCCESS || status == DSA_COMP_PAGE_FAULT_NOBOF)
        memset(at, 0, bytes - is("leaves-byte"));
    __atomic_store_n(&record->status, status, __ATOMIC_RELEASE);
}

static void *run(void *unused)
{
    struct dsa_hw_desc descriptor;
    int fd = open(path, O_RDONLY);

    while (read(fd, &descriptor, sizeof(descriptor)) == sizeof(descriptor)) {
        usleep(100);
        carry_out(&descriptor);
    }
    close(fd);
    return NULL;
}

EXPORT int accfg_new(void **context)
{
    *context = path;
    return 0;
}

EXPORT void *accfg_unref(void *context)
{
    return NULL;
}

EXPORT void *accfg_device_get_first(void *context)
{
    return path;
}

EXPORT void *accfg_device_get_next(void *device)
{
    return NULL;
}

EXPORT int accfg_device_get_type(void *device)
{
    return 0;
}

/* Two queues: the kernel's, and one for users. */
EXPORT void *accfg_wq_get_first(void *device)
{
    return path;
}

EXPORT void *accfg_wq_get_next(void *queue)
{
    return queue == path && !is("none") ? path + 1 : NULL;
}

EXPORT int accfg_wq_get_state(void *queue)
{
    return 1;
}

EXPORT int accfg_wq_get_type(void *queue)
{
    return queue == path ? 1 : 2;
}

EXPORT int accfg_wq_get_block_on_fault(void *queue)
{
    return 0;
}

EXPORT uint64_t accfg_wq_get_max_transfer_size(void *queue)
{
    const char *most = getenv("MOCK_DSA_MOST");

    return most ? strtoull(most, NULL, 10) : (uint64_t)2 << 20;
}

EXPORT int accfg_wq_get_user_dev_path(void *queue, char *buffer, size_t size)
{
    snprintf(path, sizeof(path), "/tmp/mock-dsa-%d", (int)getpid());
    unlink(path);
    if (mkfifo(path, 0600) || pthread_create(&hardware, NULL, run, NULL))
        return -1;
    snprintf(buffer, size, "%s", path);
    /* The reader's open waits for the writer's; then the name is not needed any more. */
    return 0;
}

__attribute__((destructor)) static void end(void)
{
    if (*path)
        unlink(path);
}
