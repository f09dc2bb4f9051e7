/* SPDX-License-Identifier: Apache-2.0 */
/* printf's formats: flags - 0 + space #, width, precision, hh h l ll z j t, and d i u x X o c s p f
 * %. */
#include "format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "machine.h"

struct spec {
    bool left, zero, plus, space, alternate, upper;
    int width;
    /* -1: not given. */
    int precision;
};

enum { MOST_DIGITS = 24, MOST_DECIMALS = 9 };

static IN_LIB void put_times(struct sink *sink, char byte, int times)
{
    for (; times > 0; times--)
        sink->put(sink, byte);
}

/* Sign or prefix, zeros and digits, as one field. */
static IN_LIB void put_field(struct sink *sink, const struct spec *spec, const char *prefix,
                             int zeros, const char *body, int length)
{
    int prefix_length = (int)strlen(prefix);
    int padding = spec->width - prefix_length - zeros - length;

    if (!spec->left)
        put_times(sink, ' ', padding);
    for (; *prefix != '\0'; prefix++)
        sink->put(sink, *prefix);
    put_times(sink, '0', zeros);
    for (int at = 0; at < length; at++)
        sink->put(sink, body[at]);
    if (spec->left)
        put_times(sink, ' ', padding);
}

/* Digits of value, ending before `end`; returns where they begin. None for 0. */
static IN_LIB char *digits_of(char *end, unsigned long long value, unsigned base, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

    /* A 32-bit division is one instruction, a 64-bit one a loop. */
    for (; value >> 32 != 0; value /= base)
        *--end = digits[value % base];
    for (uint32_t low = (uint32_t)value; low != 0; low /= base)
        *--end = digits[low % base];
    return end;
}

static IN_LIB void put_number(struct sink *sink, struct spec *spec, const char *prefix,
                              unsigned long long value, unsigned base)
{
    char buffer[MOST_DIGITS];
    char *end = buffer + sizeof(buffer), *at = digits_of(end, value, base, spec->upper);
    int length = (int)(end - at);
    int wanted = spec->precision >= 0 ? spec->precision : 1;

    if (spec->precision < 0 && spec->zero && !spec->left)
        wanted = spec->width - (int)strlen(prefix);
    put_field(sink, spec, prefix, wanted > length ? wanted - length : 0, at, length);
}

/* With #, as many digits as make the first one 0. */
static IN_LIB void put_octal(struct sink *sink, struct spec *spec, unsigned long long value)
{
    int least = 1;

    for (unsigned long long rest = value; rest != 0; rest >>= 3)
        least++;
    if (spec->alternate && spec->precision < 0 && spec->zero && !spec->left)
        spec->width = spec->width < least ? least : spec->width;
    else if (spec->alternate && spec->precision < least)
        spec->precision = least;
    put_number(sink, spec, "", value, 8);
}

static IN_LIB const char *sign_of(const struct spec *spec, bool negative)
{
    return negative ? "-" : spec->plus ? "+" : spec->space ? " " : "";
}

/* Up to 9 decimals, for |value| below 2^63; ties go to even, as after the scaling. */
static IN_LIB void put_fixed(struct sink *sink, struct spec *spec, double value)
{
    char buffer[MOST_DIGITS + MOST_DECIMALS + 1];
    char *end = buffer + sizeof(buffer), *at;
    union {
        double value;
        uint64_t bits;
    } as = {.value = value};
    int decimals = spec->precision < 0 ? 6 : spec->precision;
    uint64_t whole, part, scale = 1;
    double scaled;
    bool negative = as.bits >> 63;
    unsigned exponent = as.bits >> 52 & 0x7ff;

    if (exponent >= 1023 + 63) {
        const char *word = exponent != 0x7ff ? "huge" : as.bits << 12 == 0 ? "inf" : "nan";

        put_field(sink, spec, sign_of(spec, negative), 0, word, (int)strlen(word));
        return;
    }
    if (decimals > MOST_DECIMALS)
        decimals = MOST_DECIMALS;
    for (int n = 0; n < decimals; n++)
        scale *= 10;
    if (negative)
        value = -value;
    whole = (uint64_t)value;
    scaled = (value - (double)whole) * (double)scale;
    part = (uint64_t)scaled;
    scaled -= (double)part;
    if (scaled > 0.5 || (scaled == 0.5 && ((decimals > 0 ? part : whole) & 1) != 0))
        part++;
    if (part >= scale) {
        part -= scale;
        whole++;
    }
    at = digits_of(end, part, 10, false);
    while (end - at < decimals)
        *--at = '0';
    if (decimals > 0 || spec->alternate)
        *--at = '.';
    if (whole == 0)
        *--at = '0';
    at = digits_of(at, whole, 10, false);
    {
        const char *sign = sign_of(spec, negative);
        int length = (int)(end - at);
        int zeros = spec->zero && !spec->left ? spec->width - length - (int)strlen(sign) : 0;

        put_field(sink, spec, sign, zeros > 0 ? zeros : 0, at, length);
    }
}

static IN_LIB void put_text(struct sink *sink, const struct spec *spec, const char *text)
{
    size_t most = spec->precision < 0 ? SIZE_MAX / 2 : (size_t)spec->precision;

    if (text == NULL)
        text = "(null)";
    put_field(sink, spec, "", 0, text, (int)strnlen(text, most));
}

/* The number of bits of an integer by its length letters; moves *text behind them. */
static IN_LIB int bits_of(const char **text)
{
    int bits = 32;

    for (;; (*text)++) {
        if (**text == 'h')
            bits /= 2;
        else if (**text == 'j')
            bits = 64;
        else if (**text == 'l' && (*text)[1] == 'l')
            bits = 64;
        else if (**text != 'l' && **text != 'z' && **text != 't')
            return bits;
    }
}

static IN_LIB int number_or_star(const char **text, va_list *list)
{
    int number = 0;

    if (**text == '*') {
        (*text)++;
        return va_arg(*list, int);
    }
    for (; **text >= '0' && **text <= '9'; (*text)++)
        number = 10 * number + (**text - '0');
    return number;
}

static IN_LIB const char *parse_spec(struct spec *spec, const char *text, va_list *list)
{
    *spec = (struct spec){.precision = -1};
    for (;; text++) {
        if (*text == '-')
            spec->left = true;
        else if (*text == '0')
            spec->zero = true;
        else if (*text == '+')
            spec->plus = true;
        else if (*text == ' ')
            spec->space = true;
        else if (*text == '#')
            spec->alternate = true;
        else
            break;
    }
    spec->width = number_or_star(&text, list);
    if (spec->width < 0) {
        spec->left = true;
        spec->width = -spec->width;
    }
    if (*text == '.') {
        text++;
        spec->precision = number_or_star(&text, list);
    }
    return text;
}

static IN_LIB unsigned long long take(va_list *list, int bits, bool is_signed)
{
    unsigned long long value = bits == 64  ? va_arg(*list, unsigned long long)
                               : is_signed ? (unsigned long long)va_arg(*list, int)
                                           : va_arg(*list, unsigned);

    if (bits < 32) {
        value &= (1u << bits) - 1;
        if (is_signed && value >> (bits - 1) != 0)
            value -= 1ull << bits;
    }
    return value;
}

IN_LIB void format(struct sink *sink, const char *text, va_list arguments)
{
    va_list list;

    va_copy(list, arguments);
    for (; *text != '\0'; text++) {
        struct spec spec;
        unsigned long long value;
        int bits;
        char byte;

        if (*text != '%') {
            sink->put(sink, *text);
            continue;
        }
        text = parse_spec(&spec, text + 1, &list);
        bits = bits_of(&text);
        switch (*text) {
        case 'd':
        case 'i':
            value = take(&list, bits, true);
            put_number(sink, &spec, sign_of(&spec, (long long)value < 0),
                       (long long)value < 0 ? -value : value, 10);
            break;
        case 'u':
            put_number(sink, &spec, "", take(&list, bits, false), 10);
            break;
        case 'X':
            spec.upper = true;
            /* fall through */
        case 'x':
            value = take(&list, bits, false);
            put_number(sink, &spec,
                       !spec.alternate || value == 0 ? ""
                       : spec.upper                  ? "0X"
                                                     : "0x",
                       value, 16);
            break;
        case 'o':
            put_octal(sink, &spec, take(&list, bits, false));
            break;
        case 'p':
            put_number(sink, &spec, "0x", (uintptr_t)va_arg(list, void *), 16);
            break;
        case 'c':
            byte = (char)va_arg(list, int);
            put_field(sink, &spec, "", 0, &byte, 1);
            break;
        case 's':
            put_text(sink, &spec, va_arg(list, const char *));
            break;
        case 'f':
            put_fixed(sink, &spec, va_arg(list, double));
            break;
        case '\0':
            text--;
            break;
        default:
            sink->put(sink, *text);
        }
    }
    va_end(list);
}
