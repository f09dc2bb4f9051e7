/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "decode.h"

#include <stdbool.h>
#include <string.h>

#include "model.h"

#define MARK_SIZE 7

struct prefixes {
    bool repeat;
    bool operand_size;
    size_t count;
};

static struct prefixes prefixes_of(const uint8_t *bytes, size_t size)
{
    struct prefixes found = {0};

    for (; found.count < size; found.count++) {
        uint8_t byte = bytes[found.count];

        if (byte == 0xf2 || byte == 0xf3)
            found.repeat = true;
        else if (byte == 0x66)
            found.operand_size = true;
        else if (!byte || !memchr("\x67\x2e\x36\x3e\x26\x64\x65\xf0", byte, 8))
            break;
    }
    /* The REX prefix is the last prefix. */
    if (found.count < size && bytes[found.count] >> 4 == 4)
        found.count++;
    return found;
}

static bool is_string(uint8_t opcode)
{
    return (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xa4 && opcode <= 0xa7) ||
           (opcode >= 0xaa && opcode <= 0xaf);
}

static bool is_flush(const uint8_t *bytes, size_t size, bool operand_size)
{
    uint8_t field;

    if (size < 3 || bytes[0] != 0x0f)
        return false;
    field = bytes[2] >> 3 & 7;
    /* With REX.R the registers would be CR8, CR11 and CR12, which have nothing to do with paging. */
    if (bytes[1] == 0x22)
        return field == 0 || field == 3 || field == 4;
    if (bytes[1] == 0x01)
        return field == 7 && bytes[2] >> 6 != 3;
    return operand_size && bytes[1] == 0x38 && bytes[2] == 0x82;
}

enum instruction decode(const uint8_t *bytes, size_t size, uint32_t *code)
{
    struct prefixes prefixes;
    uint32_t displacement;

    if (size == MARK_SIZE && !memcmp(bytes, "\x0f\x1f\x80", 3)) {
        memcpy(&displacement, bytes + 3, sizeof(displacement));
        if (displacement >> 16 == MARK_BASE >> 16) {
            *code = displacement & 0xffff;
            return INSTRUCTION_MARK;
        }
    }
    prefixes = prefixes_of(bytes, size);
    bytes += prefixes.count;
    size -= prefixes.count;
    if (size && prefixes.repeat && is_string(*bytes))
        return INSTRUCTION_STRING;
    return is_flush(bytes, size, prefixes.operand_size) ? INSTRUCTION_FLUSH : INSTRUCTION_PLAIN;
}
