/* SPDX-License-Identifier: Apache-2.0 */
/* place: the first touch of memory, by one thread or by one thread on each of several CPUs. */
#include "reason.h"

#include <okosu/place.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slice {
    pthread_t thread;
    unsigned char *at;
    size_t bytes, page;
    unsigned cpu;
    int rc;
    char reason[320];
};

/* Atomic, so that it changes nothing even while another thread writes there. */
static void touch(unsigned char *at, size_t bytes, size_t page)
{
    for (size_t i = 0; i < bytes; i += page)
        __atomic_fetch_or(at + i, 0, __ATOMIC_RELAXED);
}

static void *touch_slice(void *arg)
{
    struct slice *slice = arg;

    slice->rc = okosu_place_pin_cpu(slice->cpu, NULL);
    if (slice->rc)
        memcpy(slice->reason, okosu_place_reason(), strlen(okosu_place_reason()) + 1);
    else
        touch(slice->at, slice->bytes, slice->page);
    return NULL;
}

/* The threads block all signals: the program's handlers expect to run on the program's own
 * threads. */
static size_t start(struct slice *slices, size_t count, int *error)
{
    sigset_t all, before;
    size_t started = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *error = 0;
    while (started < count && !*error) {
        *error = pthread_create(&slices[started].thread, NULL, touch_slice, &slices[started]);
        started += !*error;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int okosu_place_touch(const struct okosu_place_memory *memory, const unsigned *cpus, size_t count)
{
    /* The step is a base page, whatever the mapping's page size, because a transparent huge page
     * may not have been granted. */
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = memory->mapped / page, started;
    struct slice *slices;
    int rc = 0, error;

    okosu_place_begin();
    if (count == 0) {
        touch(memory->at, memory->mapped, page);
        return 0;
    }
    if (count > OKOSU_CPU_LIMIT)
        return okosu_place_fail(-EINVAL, "more threads than there can be CPUs");
    slices = calloc(count, sizeof(*slices));
    if (!slices)
        return okosu_place_fail(-ENOMEM, "no memory for %zu threads", count);
    for (size_t i = 0; i < count; i++) {
        size_t from = pages * i / count, to = pages * (i + 1) / count;

        slices[i].at = (unsigned char *)memory->at + from * page;
        slices[i].bytes = (to - from) * page;
        slices[i].page = page;
        slices[i].cpu = cpus[i];
    }
    started = start(slices, count, &error);
    for (size_t i = 0; i < started; i++) {
        pthread_join(slices[i].thread, NULL);
        if (slices[i].rc && !rc)
            rc = okosu_place_fail(slices[i].rc, "%s", slices[i].reason);
    }
    if (error && !rc)
        rc = okosu_place_fail(-error, "pthread_create: %s", strerror(error));
    free(slices);
    return rc;
}
