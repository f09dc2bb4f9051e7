/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "machine.h"

IN_LIB int abs(int value)
{
    return value < 0 ? -value : value;
}

static IN_LIB void exchange(char *left, char *right, size_t size)
{
    for (; size > 0; size--, left++, right++) {
        char byte = *left;

        *left = *right;
        *right = byte;
    }
}

/* Heap sort: no memory, no bad case. */
IN_LIB void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    char *items = base;
    size_t start = count / 2, end = count;

    while (end > 1) {
        if (start > 0)
            start--;
        else
            exchange(items, items + --end * size, size);
        for (size_t root = start, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && compare(items + child * size, items + (child + 1) * size) < 0)
                child++;
            if (compare(items + root * size, items + child * size) >= 0)
                break;
            exchange(items + root * size, items + child * size, size);
        }
    }
}
