/* SPDX-License-Identifier: Apache-2.0 */
/* Json: environment values and paths are bytes, not text, so every string is checked while it is
 * written. */
#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Length of the well-formed UTF-8 sequence at text (no surrogate, nothing overlong), 0 if there is
 * none. */
static size_t utf8_length(const unsigned char *text)
{
    unsigned char lead = text[0];
    unsigned char low = 0x80, high = 0xbf;
    size_t length;

    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (lead == 0xe0)
        low = 0xa0;
    else if (lead == 0xed)
        high = 0x9f;
    else if (lead == 0xf0)
        low = 0x90;
    else if (lead == 0xf4)
        high = 0x8f;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return length;
}

static void put(struct okosu_json *json, const char *bytes, size_t length)
{
    if (json->out)
        fwrite(bytes, 1, length, json->out);
    for (size_t i = 0; !json->out && i < length; i++)
        okosu_put_char(json->line, bytes[i]);
}

static void put_text(struct okosu_json *json, const char *text)
{
    put(json, text, strlen(text));
}

/* "\u" and four digits. */
static void put_escape(struct okosu_json *json, unsigned code)
{
    static const char digits[] = "0123456789abcdef";
    const char text[] = {'\\',
                         'u',
                         digits[code >> 12 & 15],
                         digits[code >> 8 & 15],
                         digits[code >> 4 & 15],
                         digits[code & 15]};

    put(json, text, sizeof(text));
}

static void put_string(struct okosu_json *json, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    put(json, "\"", 1);
    while (*at) {
        size_t length = utf8_length(at);

        if (length == 0) {
            put_escape(json, json->replace ? 0xfffd : 0xdc00u | *at);
            length = 1;
        } else if (length == 1 && (*at < 0x20 || *at == 0x7f)) {
            put_escape(json, *at);
        } else {
            if (*at == '"' || *at == '\\')
                put(json, "\\", 1);
            put(json, (const char *)at, length);
        }
        at += length;
    }
    put(json, "\"", 1);
}

static void begin(struct okosu_json *json, const char *name)
{
    if (json->comma)
        put_text(json, ", ");
    json->comma = true;
    if (name) {
        put_string(json, name);
        put_text(json, ": ");
    }
}

void okosu_json_open(struct okosu_json *json, const char *name, char bracket)
{
    begin(json, name);
    put(json, &bracket, 1);
    json->comma = false;
}

void okosu_json_close(struct okosu_json *json, char bracket)
{
    put(json, &bracket, 1);
    json->comma = true;
}

struct okosu_json okosu_json_begin(FILE *out)
{
    struct okosu_json json = {.out = out};

    okosu_json_open(&json, NULL, '{');
    return json;
}

void okosu_json_end(struct okosu_json *json)
{
    okosu_json_close(json, '}');
    putc('\n', json->out);
}

void okosu_json_string(struct okosu_json *json, const char *name, const char *text)
{
    begin(json, name);
    if (text)
        put_string(json, text);
    else
        put_text(json, "null");
}

void okosu_json_bool(struct okosu_json *json, const char *name, bool value)
{
    okosu_json_raw(json, name, value ? "true" : "false");
}

void okosu_json_int(struct okosu_json *json, const char *name, int64_t value)
{
    if (value >= 0) {
        okosu_json_unsigned(json, name, (uint64_t)value);
        return;
    }
    begin(json, name);
    put(json, "-", 1);
    json->comma = false;
    okosu_json_unsigned(json, NULL, -(uint64_t)value);
}

void okosu_json_unsigned(struct okosu_json *json, const char *name, uint64_t value)
{
    char digits[24];
    size_t at = sizeof(digits);

    begin(json, name);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put(json, digits + at, sizeof(digits) - at);
}

void okosu_json_number(struct okosu_json *json, const char *name, double value, int digits)
{
    char text[40];

    snprintf(text, sizeof(text), "%.*g", digits, value);
    okosu_json_raw(json, name, isfinite(value) ? text : "null");
}

void okosu_json_raw(struct okosu_json *json, const char *name, const char *text)
{
    begin(json, name);
    put_text(json, text);
}
