/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Recognises, by their bytes, the x86-64 instructions that the model treats in a special way. */
#ifndef OKOSU_MODEL_DECODE_H
#define OKOSU_MODEL_DECODE_H

#include <stddef.h>
#include <stdint.h>

enum instruction {
    INSTRUCTION_PLAIN,
    INSTRUCTION_MARK,   /* a NOP of the guest's to the model */
    INSTRUCTION_STRING, /* movs, stos, lods, cmps, scas, ins or outs with a REP */
    INSTRUCTION_FLUSH,  /* of the TLB: a load of CR0, CR3 or CR4, INVLPG, INVPCID */
};

/* Classify an instruction of `size` bytes; for a mark, `code` receives the low half of its
 * displacement. */
enum instruction decode(const uint8_t *bytes, size_t size, uint32_t *code);

#endif
