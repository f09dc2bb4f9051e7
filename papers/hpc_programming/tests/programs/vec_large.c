/* SPDX-License-Identifier: Apache-2.0 */
/* vec_check --large: arrays of more than 2^32 bytes made of 2 MiB, mapped 2051 times side by side;
 * an output passes over its memory again and again. An index or a count of 31 or 32 bits shows as a
 * wrong result. */
#include "vec_check.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK ((size_t)2 << 20)
#define CHUNKS 2051

static unsigned char *large_x, *large_y;

static unsigned char *large_new(void)
{
    int memory = memfd_create("vec_large", 0);
    unsigned char *base =
        mmap(NULL, CHUNKS * CHUNK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory < 0 || ftruncate(memory, (off_t)CHUNK) != 0 || base == MAP_FAILED)
        vec_fail("no memory or no address space");
    for (size_t i = 0; i < CHUNKS; i++)
        if (mmap(base + i * CHUNK, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory,
                 0) == MAP_FAILED)
            vec_fail("chunk %zu not mapped", i);
    close(memory);
    return base;
}

static void equal(const char *routine, double got, double wanted)
{
    vec_now.routine = routine;
    if (got != wanted)
        vec_fail("%.17g, not %.17g", got, wanted);
}

#define T double
#define R(name) d##name
#define LARGE large_double
#define SQUARE_ROOT sqrt
#include "vec_large_type.h"
#undef T
#undef R
#undef LARGE
#undef SQUARE_ROOT
#define T float
#define R(name) s##name
#define LARGE large_float
#define SQUARE_ROOT sqrtf
#include "vec_large_type.h"

/* Strides of more than 2^31 bytes over memory of which three pages are touched. */
static void far_strides(const struct okosu_vec_variant *row)
{
    const ptrdiff_t inc = ((ptrdiff_t)1 << 29) + 1;
    const size_t length = (size_t)(2 * inc + 1) * sizeof(double);
    double *far = mmap(NULL, length, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    double near[3] = {5, 7, 11};

    if (far == MAP_FAILED)
        vec_fail("no address space");
    far[0] = 1;
    far[inc] = 10;
    far[2 * inc] = 100;
    equal("ddot_strided", row->ddot_strided(3, far, inc, near, 1), 5 + 70 + 1100);
    equal("ddot_strided", row->ddot_strided(3, near, -1, far, -inc), 5 + 70 + 1100);
    equal("ddot_strided", row->ddot_strided(3, far, -inc, near, 1), 11 + 70 + 500);
    row->daxpy_strided(3, 2, near, 1, far, -inc);
    equal("daxpy_strided", far[0] + far[inc] + far[2 * inc], 1 + 22 + 10 + 14 + 100 + 10);
    equal("daxpy_strided", far[0], 23);
    munmap(far, length);
}

void vec_large(const struct okosu_vec_variant *row)
{
    if (large_x == NULL) {
        large_x = large_new();
        large_y = large_new();
    }
    vec_now = (struct vec_context){.row = row->about.name, .layout = "large"};
    large_double(row);
    large_float(row);
    far_strides(row);
}
