/* SPDX-License-Identifier: Apache-2.0 */
/* fresh: each new thread checks HI and LO before anything else, and leaves a product in them. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 12 };

static unsigned seen;

static void *look(void *argument)
{
    unsigned high, low;

    __asm__ volatile("mfhi %0\n\tmflo %1\n\tnop\n\tnop\n\tmult %2,%2"
                     : "=&r"(high), "=&r"(low)
                     : "r"(0x12345678)
                     : "hi", "lo");
    __atomic_fetch_or(&seen, high | low, __ATOMIC_SEQ_CST);
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (unsigned at = 0; at < THREADS; at++) {
        if (pthread_create(&threads[at], NULL, look, NULL))
            return 1;
        if (at % 3 == 2)
            for (unsigned back = 0; back < 3; back++)
                pthread_join(threads[at - back], NULL);
    }
    printf("%x\n", seen);
    return seen != 0;
}
