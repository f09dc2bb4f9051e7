/* SPDX-License-Identifier: Apache-2.0 */
/* sve: memset by vectors of SVE of one length (cpu/sve.h), defined as set(). Up to eight vectors NEON's
 * serves. Not timed on any machine, and chosen by name or by a profile alone. */
#include "cpu/sve.h"
#include "zero/rows.h"

enum { WIDTH = SVE_BITS / 8 };

typedef uint8_t vector __attribute__((vector_size(WIDTH), aligned(1), may_alias));

static void *set(void *start, int byte, size_t n)
{
    if (n <= 8 * WIDTH || !okosu_sve_as_compiled())
        return okosu_zero_row_neon.set(start, byte, n);
    unsigned char *p = start, *end = p + n;
    vector v = (vector){0} + (uint8_t)byte;

    for (int i = 0; i < 4; i++) {
        *(vector *)(p + i * WIDTH) = v;
        *(vector *)(end - (i + 1) * WIDTH) = v;
    }
    p = (unsigned char *)(((uintptr_t)p + WIDTH) & -(uintptr_t)WIDTH);
    for (; p < end - 4 * WIDTH; p += 4 * WIDTH) {
        for (int i = 0; i < 4; i++)
            *(vector *)(p + i * WIDTH) = v;
    }
    return start;
}
