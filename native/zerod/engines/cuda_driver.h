/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_driver: the part of NVIDIA's driver (libcuda.so.1) that the CUDA engines use, and pinning
 * for both. */
#pragma once

#include "engine.h"

/* From cuda.h (CUDA 11 and later). Status 0 is success. */
enum { CUDA_NOT_READY = 600 };
enum { CUDA_PORTABLE = 1, CUDA_DEVICEMAP = 2, CUDA_NON_BLOCKING = 1, CUDA_NO_TIMING = 2 };
typedef uint64_t cuda_pointer;

struct cuda_driver {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*device_name)(char *, int, int);
    int (*retain)(void **, int);
    int (*release)(int);
    int (*set_current)(void *);
    int (*stream)(void **, unsigned);
    int (*end_stream)(void *);
    int (*wait_stream)(void *);
    int (*query_stream)(void *);
    int (*pin)(void *, size_t, unsigned);
    int (*unpin)(void *);
    int (*pointer)(cuda_pointer *, void *, unsigned);
    int (*alloc)(cuda_pointer *, size_t);
    int (*free)(cuda_pointer);
    int (*fill)(cuda_pointer, unsigned, size_t);
    int (*copy)(void *, cuda_pointer, size_t, void *);
    int (*event)(void **, unsigned);
    int (*record)(void *, void *);
    int (*query)(void *);
    int (*end_event)(void *);
    int (*alloc_host)(void **, size_t, unsigned);
    int (*free_host)(void *);
    int (*load)(void **, const void *);
    int (*unload)(void *);
    int (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*error)(int, const char **);
};
extern struct cuda_driver cuda;

/* The first device, its context and a stream. */
struct cuda_base {
    void *library, *context, *stream;
    int device;
};

/* 0, and the device's name in about[room]; or -errno and the reason there as a sentence, with
 * nothing left open. */
int cuda_base_open(struct cuda_base *base, char *about, size_t room);
void cuda_base_close(struct cuda_base *base);
/* Write a status as a sentence; always returns -EIO. */
int cuda_base_fail(const char *what, int status, char *why, size_t room);

/* The range's address on the device. */
cuda_pointer cuda_base_pointer(const struct zerod_range *range);

/* As in struct zerod_engine; `state` begins with a struct cuda_base. */
int cuda_base_pin(void *state, void *at, size_t bytes, void **pin);
void cuda_base_unpin(void *state, void *pin);
size_t cuda_base_chunk(const void *state);
