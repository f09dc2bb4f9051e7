/* SPDX-License-Identifier: Apache-2.0 */
/* XXH64 with seed 0 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), over bytes
 * that arrive in pieces. It tells outputs apart that differ by accident, at the speed of memory; it
 * is no defence against somebody who wants two outputs to look alike. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { OKOSU_DIGEST_STRIPE = 32 };

struct okosu_digest {
    uint64_t lanes[4];
    uint64_t length;
    unsigned char rest[OKOSU_DIGEST_STRIPE]; /* the last length % 32 bytes */
};

void okosu_digest_begin(struct okosu_digest *digest);
void okosu_digest_add(struct okosu_digest *digest, const void *data, size_t size);
uint64_t okosu_digest_end(const struct okosu_digest *digest);
