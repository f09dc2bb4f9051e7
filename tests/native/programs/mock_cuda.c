/* SPDX-License-Identifier: Apache-2.0 */
/* mock_cuda: a libcuda.so.1 whose GPU is a thread: it copies and runs the mailbox's kernel, later
 * than it was asked to. The device sees host memory elsewhere, and only what was pinned.
 *
 * MOCK_CUDA: no-device | leaves-byte | leaves-byte-of-unit | never | dies | register-fails=N (the
 * Nth call, from 1); or a file that says so
 * MOCK_CUDA_LOG: a file that is told of every pinning and unpinning. */
#include "mock_told.h"

#include "cuda_driver.h"
#include "cuda_mailbox.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define SHIFT (UINT64_C(1) << 56)
#define FAILED 700

enum { LOG_LIMIT = 200, CHUNKS = 4096, QUEUE = 256 };

static struct {
    unsigned char *at;
    size_t bytes;
} chunks[CHUNKS];
static size_t registrations;
/* A filling with zeros that is done when its stream is waited for, no sooner. */
static struct {
    void *at;
    size_t bytes;
} late_fill;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

/* Copies and events in order; `finished` counts those that the thread has done. */
static struct {
    void *to;
    const void *from;
    size_t bytes;
} queue[QUEUE];
static size_t queued, finished;
static pthread_t gpu, kernel;
static bool gpu_runs, kernel_runs, kernel_ended;
static struct cuda_mailbox *box;

static bool is(const char *what)
{
    return strcmp(told("MOCK_CUDA"), what) == 0;
}

/* How many bytes of a clearing are done: of a whole unit, which a proof is not, it may be fewer. */
static size_t so_much_of(size_t bytes)
{
    bool leaves = is("leaves-byte") || (bytes == (size_t)2 << 20 && is("leaves-byte-of-unit"));

    return bytes - leaves;
}

static void note(const char *what, const void *at, size_t bytes)
{
    const char *name = getenv("MOCK_CUDA_LOG");
    FILE *file = name ? fopen(name, "ae") : NULL;

    if (!file)
        return;
    fprintf(file, "%s %p %zu\n", what, at, bytes);
    fclose(file);
}

static bool is_pinned(const unsigned char *at, size_t bytes)
{
    bool pinned = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < CHUNKS; i++)
        pinned |=
            chunks[i].at && at >= chunks[i].at && at + bytes <= chunks[i].at + chunks[i].bytes;
    pthread_mutex_unlock(&lock);
    return pinned;
}

static void *run_gpu(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (queued == finished)
            pthread_cond_wait(&more, &lock);
        pthread_mutex_unlock(&lock);
        usleep(200);
        while (is("never"))
            usleep(1000);
        if (queue[finished % QUEUE].bytes && !is("dies"))
            memcpy(queue[finished % QUEUE].to, queue[finished % QUEUE].from,
                   so_much_of(queue[finished % QUEUE].bytes));
        pthread_mutex_lock(&lock);
        finished++;
    }
    return NULL;
}

static size_t enqueue(void *to, const void *from, size_t bytes)
{
    size_t number;

    pthread_mutex_lock(&lock);
    if (!gpu_runs)
        pthread_create(&gpu, NULL, run_gpu, NULL);
    gpu_runs = true;
    queue[queued % QUEUE].to = to;
    queue[queued % QUEUE].from = from;
    queue[queued % QUEUE].bytes = bytes;
    number = ++queued;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
    return number;
}

static bool is_over(size_t number)
{
    bool over;

    pthread_mutex_lock(&lock);
    over = finished >= number;
    pthread_mutex_unlock(&lock);
    return over;
}

static void *run_kernel(void *unused)
{
    uint32_t done = 0;

    for (;;) {
        while (__atomic_load_n(&box->posted, __ATOMIC_ACQUIRE) == done) {
            if (__atomic_load_n(&box->stop, __ATOMIC_RELAXED))
                return NULL;
            usleep(50);
        }
        if (is("dies")) {
            __atomic_store_n(&kernel_ended, true, __ATOMIC_RELEASE);
            return NULL;
        }
        while (is("never"))
            usleep(1000);
        {
            unsigned char *at =
                (unsigned char *)(uintptr_t)(box->job[done % CUDA_MAILBOX_JOBS].at - SHIFT);
            size_t bytes = box->job[done % CUDA_MAILBOX_JOBS].bytes;

            if (!is_pinned(at, bytes))
                abort();
            memset(at, 0, so_much_of(bytes));
        }
        __atomic_store_n(&box->done, ++done, __ATOMIC_RELEASE);
    }
}

EXPORT int cuInit(unsigned flags)
{
    return is("no-device") ? 100 : 0;
}

EXPORT int cuDeviceGet(int *device, int number)
{
    *device = number;
    return 0;
}

EXPORT int cuDeviceGetName(char *name, int room, int device)
{
    snprintf(name, (size_t)room, "Mock GPU %d", device);
    return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &lock;
    return 0;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
    return 0;
}

EXPORT int cuCtxSetCurrent(void *context)
{
    return context == &lock ? 0 : FAILED;
}

EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
    *stream = &more;
    return 0;
}

EXPORT int cuStreamDestroy_v2(void *stream)
{
    return 0;
}

EXPORT int cuStreamSynchronize(void *stream)
{
    size_t all = queued;

    if (!stream && late_fill.at)
        memset(late_fill.at, 0, late_fill.bytes);
    if (!stream)
        return 0;
    if (kernel_runs) {
        pthread_join(kernel, NULL);
        kernel_runs = false;
    }
    while (!is_over(all))
        usleep(100);
    return 0;
}

EXPORT int cuStreamQuery(void *stream)
{
    return __atomic_load_n(&kernel_ended, __ATOMIC_ACQUIRE) ? FAILED : CUDA_NOT_READY;
}

/* Where a driver waits for kernels, it would wait for ever. */
static void wait_for_kernels(void)
{
    if (kernel_runs)
        abort();
}

EXPORT int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags)
{
    size_t failing = 0, i = 0;

    wait_for_kernels();
    sscanf(told("MOCK_CUDA"), "register-fails=%zu", &failing);
    if (++registrations == failing)
        return 2;
    pthread_mutex_lock(&lock);
    while (chunks[i].at)
        i++;
    chunks[i].at = at;
    chunks[i].bytes = bytes;
    pthread_mutex_unlock(&lock);
    note("register", at, bytes);
    return 0;
}

EXPORT int cuMemHostUnregister(void *at)
{
    wait_for_kernels();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < CHUNKS; i++) {
        if (chunks[i].at == at) {
            chunks[i].at = NULL;
            note("unregister", at, chunks[i].bytes);
        }
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

EXPORT int cuMemHostGetDevicePointer_v2(cuda_pointer *device, void *at, unsigned flags)
{
    *device = (uintptr_t)at + SHIFT;
    return 0;
}

EXPORT int cuMemAlloc_v2(cuda_pointer *device, size_t bytes)
{
    void *at = malloc(bytes);

    /* What others left there. */
    if (at)
        memset(at, 0x77, bytes);
    *device = (uintptr_t)at;
    return at ? 0 : 2;
}

EXPORT int cuMemFree_v2(cuda_pointer device)
{
    free((void *)(uintptr_t)device);
    return 0;
}

EXPORT int cuMemsetD32_v2(cuda_pointer device, unsigned value, size_t words)
{
    late_fill.at = (void *)(uintptr_t)device;
    late_fill.bytes = words * 4;
    return value ? 1 : 0;
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, cuda_pointer from, size_t bytes, void *stream)
{
    if (!is_pinned(to, bytes))
        return FAILED;
    enqueue(to, (void *)(uintptr_t)from, bytes);
    return 0;
}

EXPORT int cuEventCreate(void **event, unsigned flags)
{
    *event = calloc(1, sizeof(size_t));
    return *event ? 0 : 2;
}

EXPORT int cuEventRecord(void *event, void *stream)
{
    *(size_t *)event = enqueue(NULL, NULL, 0);
    return 0;
}

EXPORT int cuEventQuery(void *event)
{
    if (is("dies"))
        return FAILED;
    return is_over(*(size_t *)event) ? 0 : CUDA_NOT_READY;
}

EXPORT int cuEventDestroy_v2(void *event)
{
    free(event);
    return 0;
}

EXPORT int cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
    *at = calloc(1, bytes);
    return *at ? 0 : 2;
}

EXPORT int cuMemFreeHost(void *at)
{
    free(at);
    return 0;
}

EXPORT int cuModuleLoadData(void **module, const void *image)
{
    *module = &box;
    return strstr(image, ".entry zerod_mailbox(") ? 0 : 200;
}

EXPORT int cuModuleUnload(void *module)
{
    return 0;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = run_kernel;
    return strcmp(name, "zerod_mailbox") ? 500 : 0;
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void *stream,
                          void **parameters, void **extra)
{
    if (gx * gy * gz != 1 || bx != CUDA_MAILBOX_THREADS || by * bz != 1)
        return 1;
    box = (struct cuda_mailbox *)(uintptr_t)(*(cuda_pointer *)parameters[0] - SHIFT);
    kernel_runs = pthread_create(&kernel, NULL, run_kernel, NULL) == 0;
    return 0;
}

EXPORT int cuGetErrorName(int status, const char **name)
{
    *name = status == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_MOCK";
    return 0;
}
