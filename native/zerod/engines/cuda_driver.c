/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_driver: uses only the first device, because the bus is the bottleneck. */
#include "cuda_driver.h"

#include "library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Driver R580 fails above 512 GiB per call; and a call that lasts seconds blocks all users of the
 * driver. */
#define CHUNK ((size_t)1 << 30)

struct cuda_driver cuda;

static const struct zerod_symbol symbols[] = {
    {"cuInit", &cuda.init},
    {"cuDeviceGet", &cuda.device},
    {"cuDeviceGetName", &cuda.device_name},
    {"cuDevicePrimaryCtxRetain", &cuda.retain},
    {"cuDevicePrimaryCtxRelease_v2", &cuda.release},
    {"cuCtxSetCurrent", &cuda.set_current},
    {"cuStreamCreate", &cuda.stream},
    {"cuStreamDestroy_v2", &cuda.end_stream},
    {"cuStreamSynchronize", &cuda.wait_stream},
    {"cuStreamQuery", &cuda.query_stream},
    {"cuMemHostRegister_v2", &cuda.pin},
    {"cuMemHostUnregister", &cuda.unpin},
    {"cuMemHostGetDevicePointer_v2", &cuda.pointer},
    {"cuMemAlloc_v2", &cuda.alloc},
    {"cuMemFree_v2", &cuda.free},
    {"cuMemsetD32_v2", &cuda.fill},
    {"cuMemcpyDtoHAsync_v2", &cuda.copy},
    {"cuEventCreate", &cuda.event},
    {"cuEventRecord", &cuda.record},
    {"cuEventQuery", &cuda.query},
    {"cuEventDestroy_v2", &cuda.end_event},
    {"cuMemHostAlloc", &cuda.alloc_host},
    {"cuMemFreeHost", &cuda.free_host},
    {"cuModuleLoadData", &cuda.load},
    {"cuModuleUnload", &cuda.unload},
    {"cuModuleGetFunction", &cuda.function},
    {"cuLaunchKernel", &cuda.launch},
    {"cuGetErrorName", &cuda.error},
    {NULL, NULL},
};

int cuda_base_fail(const char *what, int status, char *why, size_t room)
{
    const char *name = NULL;

    if (cuda.error(status, &name) || !name)
        name = "an error without a name";
    snprintf(why, room, "%s: %s", what, name);
    return -EIO;
}

int cuda_base_open(struct cuda_base *base, char *about, size_t room)
{
    int status;

    *base = (struct cuda_base){0};
    base->library = zerod_library_open("libcuda.so.1", symbols, about, room);
    if (!base->library)
        return -ENOTSUP;
    status = cuda.init(0);
    if (!status)
        status = cuda.device(&base->device, 0);
    if (!status)
        status = cuda.device_name(about, (int)room, base->device);
    if (!status)
        status = cuda.retain(&base->context, base->device);
    if (!status)
        status = cuda.set_current(base->context);
    if (!status)
        status = cuda.stream(&base->stream, CUDA_NON_BLOCKING);
    if (!status)
        return 0;
    cuda_base_fail("CUDA has no device here", status, about, room);
    cuda_base_close(base);
    return -ENODEV;
}

void cuda_base_close(struct cuda_base *base)
{
    if (base->stream)
        cuda.end_stream(base->stream);
    if (base->context)
        cuda.release(base->device);
    zerod_library_close(base->library);
}

/* The pin holds two addresses: the chunk's, for unpinning, and the device's, for clearing. */
struct pin {
    void *at;
    cuda_pointer device;
};

int cuda_base_pin(void *state, void *at, size_t bytes, void **out)
{
    struct cuda_base *base = state;
    struct pin *pin = calloc(1, sizeof(*pin));
    int status;

    if (!pin)
        return -ENOMEM;
    pin->at = at;
    cuda.set_current(base->context);
    status = cuda.pin(at, bytes, CUDA_PORTABLE | CUDA_DEVICEMAP);
    if (!status) {
        status = cuda.pointer(&pin->device, at, 0);
        if (status)
            cuda.unpin(at);
    }
    if (status) {
        free(pin);
        return -ENOMEM;
    }
    *out = pin;
    return 0;
}

void cuda_base_unpin(void *state, void *pinned)
{
    struct cuda_base *base = state;
    struct pin *pin = pinned;

    cuda.set_current(base->context);
    cuda.unpin(pin->at);
    free(pin);
}

cuda_pointer cuda_base_pointer(const struct zerod_range *range)
{
    const struct pin *pin = range->pin;

    return pin->device + range->offset;
}

size_t cuda_base_chunk(const void *state)
{
    return CHUNK;
}
