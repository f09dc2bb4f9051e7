/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler calls where the processor has no instruction for it. */
#include <stdint.h>
#include <string.h>

int __ffssi2(int number);
int __clrsbsi2(int number);
int __paritysi2(unsigned number);
uint64_t __bswapdi2(uint64_t number);

int __ffssi2(int number)
{
    unsigned rest = (unsigned)number;
    int place = 1;

    if (rest == 0)
        return 0;
    for (; (rest & 1) == 0; rest >>= 1)
        place++;
    return place;
}

int __paritysi2(unsigned number)
{
    for (int half = 16; half > 0; half /= 2)
        number ^= number >> half;
    return (int)(number & 1);
}

/* The bits behind the sign that are like it. */
int __clrsbsi2(int number)
{
    unsigned differs = (unsigned)(number < 0 ? ~number : number);

    return differs == 0 ? 31 : __builtin_clz(differs) - 1;
}

uint64_t __bswapdi2(uint64_t number)
{
    uint64_t turned = 0;

    for (int byte = 0; byte < 8; byte++, number >>= 8)
        turned = turned << 8 | (number & 0xff);
    return turned;
}

void *mempcpy(void *restrict to, const void *restrict from, size_t size)
{
    return (char *)memcpy(to, from, size) + size;
}
