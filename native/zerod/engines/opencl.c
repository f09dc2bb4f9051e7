/* SPDX-License-Identifier: Apache-2.0 */
/* opencl: an integrated GPU, or another device of the first OpenCL platform, fills memory in place:
 * a buffer over the pool's own pages (CL_MEM_USE_HOST_PTR), so that nothing is copied.
 *
 * The runtime may use a copy all the same; mapping the range for reading brings the copy back, so a
 * clearing ends with that mapping. Tested with PoCL, which clears with the CPU's own threads. */
#include "engine.h"
#include "library.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS = 8, TICKETS = 16 };

/* The functions of OpenCL 1.2, found when the daemon runs. */
static struct {
    __typeof__(clGetPlatformIDs) *platforms;
    __typeof__(clGetDeviceIDs) *devices;
    __typeof__(clGetDeviceInfo) *device_info;
    __typeof__(clCreateContext) *context;
    __typeof__(clReleaseContext) *release_context;
    __typeof__(clCreateCommandQueue) *queue;
    __typeof__(clReleaseCommandQueue) *release_queue;
    __typeof__(clCreateBuffer) *buffer;
    __typeof__(clReleaseMemObject) *release_buffer;
    __typeof__(clEnqueueFillBuffer) *fill;
    __typeof__(clEnqueueMapBuffer) *map;
    __typeof__(clEnqueueUnmapMemObject) *unmap;
    __typeof__(clFlush) *flush;
    __typeof__(clFinish) *finish;
    __typeof__(clGetEventInfo) *event_info;
    __typeof__(clReleaseEvent) *release_event;
} cl;

static const struct zerod_symbol symbols[] = {
    {"clGetPlatformIDs", &cl.platforms},
    {"clGetDeviceIDs", &cl.devices},
    {"clGetDeviceInfo", &cl.device_info},
    {"clCreateContext", &cl.context},
    {"clReleaseContext", &cl.release_context},
    {"clCreateCommandQueue", &cl.queue},
    {"clReleaseCommandQueue", &cl.release_queue},
    {"clCreateBuffer", &cl.buffer},
    {"clReleaseMemObject", &cl.release_buffer},
    {"clEnqueueFillBuffer", &cl.fill},
    {"clEnqueueMapBuffer", &cl.map},
    {"clEnqueueUnmapMemObject", &cl.unmap},
    {"clFlush", &cl.flush},
    {"clFinish", &cl.finish},
    {"clGetEventInfo", &cl.event_info},
    {"clReleaseEvent", &cl.release_event},
    {NULL, NULL},
};

struct opencl {
    void *library;
    cl_context context;
    cl_command_queue queue;
    size_t chunk;
    cl_event event[TICKETS]; /* of the mapping that ends a clearing; NULL: the ticket is free */
};

/* A GPU; or, with `any`, whatever device there is. 0 or an error. */
static int find_device(cl_device_id *device, bool any)
{
    const cl_device_type kinds[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL};
    cl_platform_id platform[PLATFORMS];
    cl_uint count = 0;

    if (cl.platforms(PLATFORMS, platform, &count) != CL_SUCCESS)
        return -ENODEV;
    for (size_t kind = 0; kind < 1 + (size_t)any; kind++) {
        for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
            if (cl.devices(platform[i], kinds[kind], 1, device, NULL) == CL_SUCCESS)
                return 0;
        }
    }
    return -ENODEV;
}

static void close_opencl(void *state)
{
    struct opencl *opencl = state;

    if (opencl->queue)
        cl.release_queue(opencl->queue);
    if (opencl->context)
        cl.release_context(opencl->context);
    zerod_library_close(opencl->library);
    free(opencl);
}

static int open_opencl(void **state, bool asked, char *about, size_t room)
{
    void *library = zerod_library_open("libOpenCL.so.1", symbols, about, room);
    struct opencl *opencl;
    cl_device_id device = NULL;
    cl_ulong most = 0;
    cl_int error = 0;

    if (!library)
        return -ENOTSUP;
    opencl = calloc(1, sizeof(*opencl));
    if (!opencl || find_device(&device, asked)) {
        snprintf(about, room, "OpenCL has no %s here", asked ? "device" : "GPU");
        zerod_library_close(library);
        free(opencl);
        return -ENODEV;
    }
    opencl->library = library;
    cl.device_info(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most), &most, NULL);
    opencl->chunk = most;
    opencl->context = cl.context(NULL, 1, &device, NULL, NULL, &error);
    if (opencl->context)
        opencl->queue = cl.queue(opencl->context, device, 0, &error);
    if (!opencl->queue) {
        snprintf(about, room, "the device gives no queue: OpenCL error %d", error);
        close_opencl(opencl);
        return -ENODEV;
    }
    *about = '\0';
    cl.device_info(device, CL_DEVICE_NAME, room, about, NULL);
    *state = opencl;
    return 0;
}

static size_t chunk(const void *state)
{
    return ((const struct opencl *)state)->chunk;
}

static int pin(void *state, void *at, size_t bytes, void **pinned)
{
    struct opencl *opencl = state;
    cl_int error;

    *pinned =
        cl.buffer(opencl->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, at, &error);
    return *pinned ? 0 : -ENOMEM;
}

static void unpin(void *state, void *pinned)
{
    cl.finish(((struct opencl *)state)->queue);
    cl.release_buffer(pinned);
}

static int submit(void *state, const struct zerod_range *range, uint64_t *ticket)
{
    struct opencl *opencl = state;
    const cl_uint zero = 0;
    cl_int error;
    void *seen;

    for (*ticket = 0; *ticket < TICKETS && opencl->event[*ticket]; ++*ticket)
        ;
    if (*ticket == TICKETS)
        return -EBUSY;
    if (cl.fill(opencl->queue, range->pin, &zero, sizeof(zero), range->offset, range->bytes, 0,
                NULL, NULL) != CL_SUCCESS)
        return -EIO;
    seen = cl.map(opencl->queue, range->pin, CL_FALSE, CL_MAP_READ, range->offset, range->bytes, 0,
                  NULL, &opencl->event[*ticket], &error);
    if (!seen) {
        /* The filling may be in progress: no other engine may begin it before it has ended. */
        cl.finish(opencl->queue);
        opencl->event[*ticket] = NULL;
        return -EIO;
    }
    cl.unmap(opencl->queue, range->pin, seen, 0, NULL, NULL);
    cl.flush(opencl->queue);
    return 0;
}

static int poll_opencl(void *state, uint64_t ticket)
{
    struct opencl *opencl = state;
    cl_int status = -1;

    if (cl.event_info(opencl->event[ticket], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
                      &status, NULL) == CL_SUCCESS &&
        status > CL_COMPLETE)
        return 0;
    cl.release_event(opencl->event[ticket]);
    opencl->event[ticket] = NULL;
    return status == CL_COMPLETE ? 1 : -EIO;
}

const struct zerod_engine zerod_engine_opencl = {
    .name = "opencl",
    .doc = "an OpenCL device, a GPU if there is one, fills the memory in place",
    .depth = 4,
    .open = open_opencl,
    .pin = pin,
    .unpin = unpin,
    .chunk = chunk,
    .submit = submit,
    .poll = poll_opencl,
    .close = close_opencl,
};
