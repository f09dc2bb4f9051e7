/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "machine.h"

/* The compiler knows these loops by their names and would have them call themselves. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

typedef uint32_t __attribute__((may_alias)) word;

#define EACH_BYTE UINT32_C(0x01010101)

/* Whether one of the four bytes is 0. */
ALWAYS_INLINE bool has_zero(uint32_t bytes)
{
    return ((bytes - EACH_BYTE) & ~bytes & (EACH_BYTE << 7)) != 0;
}

/* May stand at any address: lwl, lwr, swl and swr. */
struct anywhere {
    uint32_t value;
} __attribute__((packed, may_alias));

IN_LIB void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    unsigned char *out = to;
    const unsigned char *in = from;

    if ((((uintptr_t)out | (uintptr_t)in) & 3) == 0) {
        for (; size >= 16; size -= 16, in += 16, out += 16) {
            const word *source = (const word *)in;
            word *target = (word *)out;
            word a = source[0], b = source[1], c = source[2], d = source[3];

            target[0] = a;
            target[1] = b;
            target[2] = c;
            target[3] = d;
        }
    }
    for (; size >= 4; size -= 4, in += 4, out += 4)
        ((struct anywhere *)out)->value = ((const struct anywhere *)in)->value;
    while (size-- > 0)
        *out++ = *in++;
    return to;
}

IN_LIB void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *out = to;
    const unsigned char *in = from;
    bool aligned = (((uintptr_t)out ^ (uintptr_t)in) & 3) == 0;

    /* Upwards is right unless the target begins inside the source. */
    if ((uintptr_t)out - (uintptr_t)in >= size) {
        if (aligned) {
            for (; size > 0 && ((uintptr_t)in & 3) != 0; size--)
                *out++ = *in++;
            for (; size >= 4; size -= 4, in += 4, out += 4)
                *(word *)out = *(const word *)in;
        }
        while (size-- > 0)
            *out++ = *in++;
    } else {
        if (aligned) {
            for (; size > 0 && ((uintptr_t)(in + size) & 3) != 0; size--)
                out[size - 1] = in[size - 1];
            for (; size >= 4; size -= 4)
                *(word *)(out + size - 4) = *(const word *)(in + size - 4);
        }
        while (size-- > 0)
            out[size] = in[size];
    }
    return to;
}

IN_LIB void *memset(void *memory, int byte, size_t size)
{
    unsigned char *out = memory;
    word all = (unsigned char)byte * EACH_BYTE;

    for (; size > 0 && ((uintptr_t)out & 3) != 0; size--)
        *out++ = (unsigned char)byte;
    for (; size >= 4; size -= 4, out += 4)
        *(word *)out = all;
    while (size-- > 0)
        *out++ = (unsigned char)byte;
    return memory;
}

IN_LIB int memcmp(const void *left, const void *right, size_t size)
{
    const unsigned char *a = left, *b = right;

    /* Words that are equal; where they differ, the bytes say how. */
    if ((((uintptr_t)a ^ (uintptr_t)b) & 3) == 0 && ((uintptr_t)a & 3) == 0)
        for (; size >= 4 && *(const word *)a == *(const word *)b; size -= 4, a += 4, b += 4)
            ;
    for (; size > 0; size--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

IN_LIB void *memchr(const void *memory, int byte, size_t size)
{
    const unsigned char *at = memory;
    word all = (unsigned char)byte * EACH_BYTE;

    for (; size > 0 && ((uintptr_t)at & 3) != 0; size--, at++)
        if (*at == (unsigned char)byte)
            return (void *)at;
    for (; size >= 4 && !has_zero(*(const word *)at ^ all); size -= 4)
        at += 4;
    for (; size > 0; size--, at++)
        if (*at == (unsigned char)byte)
            return (void *)at;
    return NULL;
}

IN_LIB size_t strlen(const char *text)
{
    const char *end = text;

    /* A whole word can be read where its first byte can. */
    for (; ((uintptr_t)end & 3) != 0; end++)
        if (*end == '\0')
            return (size_t)(end - text);
    while (!has_zero(*(const word *)end))
        end += 4;
    while (*end != '\0')
        end++;
    return (size_t)(end - text);
}

IN_LIB size_t strnlen(const char *text, size_t most)
{
    const char *end = memchr(text, '\0', most);

    return end != NULL ? (size_t)(end - text) : most;
}

IN_LIB int strcmp(const char *left, const char *right)
{
    return strncmp(left, right, SIZE_MAX);
}

IN_LIB int strncmp(const char *left, const char *right, size_t most)
{
    if ((((uintptr_t)left ^ (uintptr_t)right) & 3) == 0 && ((uintptr_t)left & 3) == 0)
        for (; most >= 4 && *(const word *)left == *(const word *)right; most -= 4) {
            if (has_zero(*(const word *)left))
                return 0;
            left += 4;
            right += 4;
        }
    for (; most > 0; most--, left++, right++) {
        if (*left != *right)
            return (unsigned char)*left - (unsigned char)*right;
        if (*left == '\0')
            break;
    }
    return 0;
}

IN_LIB char *strcpy(char *restrict to, const char *restrict from)
{
    memcpy(to, from, strlen(from) + 1);
    return to;
}

IN_LIB char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    size_t length = strnlen(from, size);

    memcpy(to, from, length);
    memset(to + length, 0, size - length);
    return to;
}

IN_LIB char *strcat(char *restrict to, const char *restrict from)
{
    strcpy(to + strlen(to), from);
    return to;
}

IN_LIB char *strchr(const char *text, int byte)
{
    for (;; text++) {
        if (*text == (char)byte)
            return (char *)text;
        if (*text == '\0')
            return NULL;
    }
}

IN_LIB char *strrchr(const char *text, int byte)
{
    char *last = NULL;

    for (;; text++) {
        if (*text == (char)byte)
            last = (char *)text;
        if (*text == '\0')
            return last;
    }
}

IN_LIB char *strstr(const char *text, const char *part)
{
    size_t length = strlen(part);

    for (;; text++) {
        if (strncmp(text, part, length) == 0)
            return (char *)text;
        if (*text == '\0')
            return NULL;
    }
}
