/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers from text. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "machine.h"

static unsigned digit_of(char byte)
{
    if (byte >= '0' && byte <= '9')
        return (unsigned)(byte - '0');
    if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z')
        return (unsigned)((byte | 0x20) - 'a' + 10);
    return UINT_MAX;
}

/* The magnitude, ULLONG_MAX and `overflow` if it is too large; `negative` is the sign that stood
 * there. */
static IN_LIB unsigned long long parse(const char *text, char **end, int base, bool *negative,
                                       bool *overflow)
{
    const char *at = text, *first;
    unsigned long long value = 0;

    *negative = *overflow = false;
    while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
        at++;
    if (*at == '+' || *at == '-')
        *negative = *at++ == '-';
    if ((base == 0 || base == 16) && at[0] == '0' && (at[1] | 0x20) == 'x' &&
        digit_of(at[2]) < 16) {
        at += 2;
        base = 16;
    } else if (base == 0) {
        base = *at == '0' ? 8 : 10;
    }
    for (first = at; digit_of(*at) < (unsigned)base; at++) {
        if (__builtin_mul_overflow(value, (unsigned long long)base, &value) ||
            __builtin_add_overflow(value, (unsigned long long)digit_of(*at), &value))
            *overflow = true;
    }
    if (end != NULL)
        *end = (char *)(at == first ? text : at);
    return *overflow ? ULLONG_MAX : value;
}

IN_LIB unsigned long long strtoull(const char *text, char **end, int base)
{
    bool negative, overflow;
    unsigned long long value = parse(text, end, base, &negative, &overflow);

    if (overflow) {
        errno = ERANGE;
        return ULLONG_MAX;
    }
    return negative ? -value : value;
}

IN_LIB long long strtoll(const char *text, char **end, int base)
{
    bool negative, overflow;
    unsigned long long value = parse(text, end, base, &negative, &overflow);
    unsigned long long most = (unsigned long long)LLONG_MAX + negative;

    if (overflow || value > most) {
        errno = ERANGE;
        return negative ? LLONG_MIN : LLONG_MAX;
    }
    return (long long)(negative ? -value : value);
}

IN_LIB unsigned long strtoul(const char *text, char **end, int base)
{
    bool negative, overflow;
    unsigned long long value = parse(text, end, base, &negative, &overflow);

    if (value > ULONG_MAX) {
        errno = ERANGE;
        return ULONG_MAX;
    }
    return (unsigned long)(negative ? -value : value);
}

IN_LIB long strtol(const char *text, char **end, int base)
{
    long long value = strtoll(text, end, base);

    if (value > LONG_MAX || value < LONG_MIN) {
        errno = ERANGE;
        return value < 0 ? LONG_MIN : LONG_MAX;
    }
    return (long)value;
}

IN_LIB int atoi(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

IN_LIB long atol(const char *text)
{
    return strtol(text, NULL, 10);
}
