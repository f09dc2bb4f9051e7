/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler calls for 64-bit integers: Debian's libgcc is for a later MIPS and not for this
 * one. */
#include <stdint.h>

#include "machine.h"

union wide {
    uint64_t value;
    struct {
        uint32_t low, high;
    };
};

int __clzsi2(uint32_t value);
int __clzdi2(uint64_t value);
int __ctzsi2(uint32_t value);
int __popcountsi2(uint32_t value);
uint32_t __bswapsi2(uint32_t value);
int64_t __ashldi3(int64_t value, int by);
int64_t __lshrdi3(int64_t value, int by);
int64_t __ashrdi3(int64_t value, int by);
int64_t __muldi3(int64_t left, int64_t right);
uint64_t __udivmoddi4(uint64_t dividend, uint64_t divisor, uint64_t *rest);
uint64_t __udivdi3(uint64_t dividend, uint64_t divisor);
uint64_t __umoddi3(uint64_t dividend, uint64_t divisor);
int64_t __divdi3(int64_t dividend, int64_t divisor);
int64_t __moddi3(int64_t dividend, int64_t divisor);
int __cmpdi2(int64_t left, int64_t right);
int __ucmpdi2(uint64_t left, uint64_t right);

IN_LIB int __clzsi2(uint32_t value)
{
    int zeros = 0;

    for (int step = 16; step > 0; step /= 2) {
        if (value >> (32 - step) == 0) {
            zeros += step;
            value <<= step;
        }
    }
    return value == 0 ? 32 : zeros;
}

IN_LIB int __clzdi2(uint64_t value)
{
    uint32_t high = (uint32_t)(value >> 32);

    return high != 0 ? __clzsi2(high) : 32 + __clzsi2((uint32_t)value);
}

IN_LIB int __ctzsi2(uint32_t value)
{
    return 31 - __clzsi2(value & -value);
}

IN_LIB int __popcountsi2(uint32_t value)
{
    int ones = 0;

    for (; value != 0; value &= value - 1)
        ones++;
    return ones;
}

IN_LIB uint32_t __bswapsi2(uint32_t value)
{
    return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}

IN_LIB int64_t __ashldi3(int64_t value, int by)
{
    union wide in = {.value = (uint64_t)value}, out;

    if (by == 0)
        return value;
    if (by >= 32) {
        out.high = in.low << (by - 32);
        out.low = 0;
    } else {
        out.high = in.high << by | in.low >> (32 - by);
        out.low = in.low << by;
    }
    return (int64_t)out.value;
}

IN_LIB int64_t __lshrdi3(int64_t value, int by)
{
    union wide in = {.value = (uint64_t)value}, out;

    if (by == 0)
        return value;
    if (by >= 32) {
        out.low = in.high >> (by - 32);
        out.high = 0;
    } else {
        out.low = in.low >> by | in.high << (32 - by);
        out.high = in.high >> by;
    }
    return (int64_t)out.value;
}

IN_LIB int64_t __ashrdi3(int64_t value, int by)
{
    union wide in = {.value = (uint64_t)value}, out;

    if (by == 0)
        return value;
    if (by >= 32) {
        out.low = (uint32_t)((int32_t)in.high >> (by - 32));
        out.high = (uint32_t)((int32_t)in.high >> 31);
    } else {
        out.low = in.low >> by | in.high << (32 - by);
        out.high = (uint32_t)((int32_t)in.high >> by);
    }
    return (int64_t)out.value;
}

IN_LIB int64_t __muldi3(int64_t left, int64_t right)
{
    union wide a = {.value = (uint64_t)left}, b = {.value = (uint64_t)right}, out;

    out.value = (uint64_t)a.low * b.low;
    out.high += a.low * b.high + a.high * b.low;
    return (int64_t)out.value;
}

IN_LIB uint64_t __udivmoddi4(uint64_t dividend, uint64_t divisor, uint64_t *rest)
{
    uint64_t quotient = 0;
    int shift;

    /* A division by 0 comes here, too, and traps with its own message. */
    if (dividend >> 32 == 0 && divisor >> 32 == 0) {
        *rest = (uint32_t)dividend % (uint32_t)divisor;
        return (uint32_t)dividend / (uint32_t)divisor;
    }
    if (divisor == 0)
#ifdef __riscv
        return UINT64_MAX;
#else
        __asm__ volatile("break 7");
#endif
    *rest = dividend;
    if (divisor > dividend)
        return 0;
    shift = __clzdi2(divisor) - __clzdi2(dividend);
    divisor <<= shift;
    for (; shift >= 0; shift--) {
        quotient <<= 1;
        if (*rest >= divisor) {
            *rest -= divisor;
            quotient |= 1;
        }
        divisor >>= 1;
    }
    return quotient;
}

IN_LIB uint64_t __udivdi3(uint64_t dividend, uint64_t divisor)
{
    uint64_t rest;

    return __udivmoddi4(dividend, divisor, &rest);
}

IN_LIB uint64_t __umoddi3(uint64_t dividend, uint64_t divisor)
{
    uint64_t rest;

    __udivmoddi4(dividend, divisor, &rest);
    return rest;
}

static IN_LIB uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

IN_LIB int64_t __divdi3(int64_t dividend, int64_t divisor)
{
    uint64_t quotient = __udivdi3(magnitude(dividend), magnitude(divisor));

    return (int64_t)((dividend ^ divisor) < 0 ? -quotient : quotient);
}

IN_LIB int64_t __moddi3(int64_t dividend, int64_t divisor)
{
    uint64_t rest = __umoddi3(magnitude(dividend), magnitude(divisor));

    return (int64_t)(dividend < 0 ? -rest : rest);
}

/* 0, 1 or 2 for less, equal or greater. */
IN_LIB int __cmpdi2(int64_t left, int64_t right)
{
    return left < right ? 0 : left == right ? 1 : 2;
}

IN_LIB int __ucmpdi2(uint64_t left, uint64_t right)
{
    return left < right ? 0 : left == right ? 1 : 2;
}
