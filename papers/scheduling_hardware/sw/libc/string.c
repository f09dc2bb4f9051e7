/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#include "machine.h"

/* The compiler knows these loops by their names and would have them call themselves. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

typedef uint32_t __attribute__((may_alias)) word;

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

    /* Upwards is right unless the target begins inside the source. */
    if ((uintptr_t)out - (uintptr_t)in >= size) {
        while (size-- > 0)
            *out++ = *in++;
    } else {
        while (size-- > 0)
            out[size] = in[size];
    }
    return to;
}

IN_LIB void *memset(void *memory, int byte, size_t size)
{
    unsigned char *out = memory;
    word all = (unsigned char)byte * UINT32_C(0x01010101);

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

    for (; size > 0; size--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

IN_LIB void *memchr(const void *memory, int byte, size_t size)
{
    const unsigned char *at = memory;

    for (; size > 0; size--, at++)
        if (*at == (unsigned char)byte)
            return (void *)at;
    return NULL;
}

IN_LIB size_t strlen(const char *text)
{
    const char *end = text;

    while (*end != '\0')
        end++;
    return (size_t)(end - text);
}

IN_LIB size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;

    while (length < most && text[length] != '\0')
        length++;
    return length;
}

IN_LIB int strcmp(const char *left, const char *right)
{
    return strncmp(left, right, SIZE_MAX);
}

IN_LIB int strncmp(const char *left, const char *right, size_t most)
{
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
