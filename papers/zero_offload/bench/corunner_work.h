/* SPDX-License-Identifier: Apache-2.0 */
/* corunner_work: what runs beside the clearing of pages: Bob Jenkins' hash as the kernel has it
 * (jhash), and AES-128 by tables, as kernels did it before there were instructions for it. */
#ifndef CORUNNER_WORK_H
#define CORUNNER_WORK_H

#include <stddef.h>
#include <stdint.h>

uint32_t corunner_jhash(const void *key, size_t bytes, uint32_t initial);

struct corunner_aes {
    uint32_t round_key[44];
};

void corunner_aes_key(struct corunner_aes *aes, const uint8_t key[16]);
void corunner_aes_block(const struct corunner_aes *aes, const uint8_t in[16], uint8_t out[16]);

/* 0 where both give what their authors published; else the name of the wrong one. */
const char *corunner_check(void);

#endif
