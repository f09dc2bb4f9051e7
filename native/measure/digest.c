/* SPDX-License-Identifier: Apache-2.0 */
/* XXH64; see digest.h. */
#include "digest.h"

#include <endian.h>
#include <string.h>

#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t rotated(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

static uint64_t read_8(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return le64toh(word);
}

static uint32_t read_4(const unsigned char *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    return le32toh(word);
}

static uint64_t mixed(uint64_t lane, uint64_t word)
{
    return rotated(lane + word * PRIME_2, 31) * PRIME_1;
}

static void add_stripes(uint64_t lanes[4], const unsigned char *at, size_t count)
{
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];

    for (; count; count--, at += OKOSU_DIGEST_STRIPE) {
        a = mixed(a, read_8(at));
        b = mixed(b, read_8(at + 8));
        c = mixed(c, read_8(at + 16));
        d = mixed(d, read_8(at + 24));
    }
    lanes[0] = a;
    lanes[1] = b;
    lanes[2] = c;
    lanes[3] = d;
}

void okosu_digest_begin(struct okosu_digest *digest)
{
    *digest = (struct okosu_digest){.lanes = {PRIME_1 + PRIME_2, PRIME_2, 0, 0 - PRIME_1}};
}

void okosu_digest_add(struct okosu_digest *digest, const void *data, size_t size)
{
    const unsigned char *at = data;
    size_t held = digest->length % OKOSU_DIGEST_STRIPE;

    digest->length += size;
    if (held) {
        size_t more = OKOSU_DIGEST_STRIPE - held;
        if (more > size)
            more = size;
        memcpy(digest->rest + held, at, more);
        if (held + more < OKOSU_DIGEST_STRIPE)
            return;
        add_stripes(digest->lanes, digest->rest, 1);
        at += more;
        size -= more;
    }
    add_stripes(digest->lanes, at, size / OKOSU_DIGEST_STRIPE);
    memcpy(digest->rest, at + size - size % OKOSU_DIGEST_STRIPE, size % OKOSU_DIGEST_STRIPE);
}

uint64_t okosu_digest_end(const struct okosu_digest *digest)
{
    static const int turns[4] = {1, 7, 12, 18};
    const unsigned char *at = digest->rest;
    size_t left = digest->length % OKOSU_DIGEST_STRIPE;
    uint64_t sum = PRIME_5;

    if (digest->length >= OKOSU_DIGEST_STRIPE) {
        sum = 0;
        for (int i = 0; i < 4; i++)
            sum += rotated(digest->lanes[i], turns[i]);
        for (int i = 0; i < 4; i++)
            sum = (sum ^ mixed(0, digest->lanes[i])) * PRIME_1 + PRIME_4;
    }
    sum += digest->length;
    for (; left >= 8; left -= 8, at += 8)
        sum = rotated(sum ^ mixed(0, read_8(at)), 27) * PRIME_1 + PRIME_4;
    if (left >= 4) {
        sum = rotated(sum ^ read_4(at) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        left -= 4;
        at += 4;
    }
    for (; left; left--, at++)
        sum = rotated(sum ^ *at * PRIME_5, 11) * PRIME_1;
    sum = (sum ^ (sum >> 33)) * PRIME_2;
    sum = (sum ^ (sum >> 29)) * PRIME_3;
    return sum ^ (sum >> 32);
}
