/* SPDX-License-Identifier: Apache-2.0 */
/* Json: environment values and paths are bytes, not text, so every string is checked while it is
 * written. */
#include "base/json.h"

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

static void write_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    putc('"', out);
    while (*at) {
        size_t length = utf8_length(at);

        if (length == 0) {
            fprintf(out, "\\udc%02x", *at++);
        } else if (length == 1 && (*at < 0x20 || *at == 0x7f)) {
            fprintf(out, "\\u%04x", *at++);
        } else if (*at == '"' || *at == '\\') {
            fprintf(out, "\\%c", *at++);
        } else {
            fwrite(at, 1, length, out);
            at += length;
        }
    }
    putc('"', out);
}

static void begin(struct okosu_json *json, const char *name)
{
    if (json->comma)
        fputs(", ", json->out);
    json->comma = true;
    if (name) {
        write_string(json->out, name);
        fputs(": ", json->out);
    }
}

void okosu_json_open(struct okosu_json *json, const char *name, char bracket)
{
    begin(json, name);
    putc(bracket, json->out);
    json->comma = false;
}

void okosu_json_close(struct okosu_json *json, char bracket)
{
    putc(bracket, json->out);
    json->comma = true;
}

void okosu_json_string(struct okosu_json *json, const char *name, const char *text)
{
    begin(json, name);
    if (text)
        write_string(json->out, text);
    else
        fputs("null", json->out);
}

void okosu_json_bool(struct okosu_json *json, const char *name, bool value)
{
    begin(json, name);
    fputs(value ? "true" : "false", json->out);
}

void okosu_json_int(struct okosu_json *json, const char *name, long long value)
{
    begin(json, name);
    fprintf(json->out, "%lld", value);
}
