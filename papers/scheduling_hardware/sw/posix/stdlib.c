/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "backend.h"

static unsigned seed_of_all = 1;
static struct lock lock;

/* The upper bits of a linear congruential generator modulo 2^64 would need more state than POSIX
 * gives rand_r(); two steps of 32 bits, of which the upper halves are used. */
int rand_r(unsigned *seed)
{
    unsigned high, low;

    *seed = *seed * 1103515245u + 12345u;
    high = *seed >> 16;
    *seed = *seed * 1103515245u + 12345u;
    low = *seed >> 16;
    return (int)((high << 16 | low) & RAND_MAX);
}

int rand(void)
{
    int number;

    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
    number = rand_r(&seed_of_all);
    lock_release(&lock);
    return number;
}

void srand(unsigned seed)
{
    seed_of_all = seed;
}

long labs(long value)
{
    return value < 0 ? -value : value;
}

long long llabs(long long value)
{
    return value < 0 ? -value : value;
}

div_t div(int dividend, int divisor)
{
    return (div_t){dividend / divisor, dividend % divisor};
}

ldiv_t ldiv(long dividend, long divisor)
{
    return (ldiv_t){dividend / divisor, dividend % divisor};
}

lldiv_t lldiv(long long dividend, long long divisor)
{
    return (lldiv_t){dividend / divisor, dividend % divisor};
}

void *bsearch(const void *key, const void *base, size_t count, size_t size,
              int (*compare)(const void *, const void *))
{
    const char *low = base;

    while (count > 0) {
        const char *middle = low + count / 2 * size;
        int order = compare(key, middle);

        if (order == 0)
            return (void *)middle;
        if (order > 0) {
            low = middle + size;
            count--;
        }
        count /= 2;
    }
    return NULL;
}
