/* SPDX-License-Identifier: Apache-2.0 */
/* See corunner_work.h. From the descriptions: Jenkins' lookup3, and FIPS 197. */
#include "corunner_work.h"

#include <stdbool.h>
#include <string.h>

static uint32_t left(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static uint32_t word_at(const uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

uint32_t corunner_jhash(const void *key, size_t bytes, uint32_t initial)
{
    uint32_t a = 0xdeadbeef + (uint32_t)bytes + initial, b = a, c = a;
    const uint8_t *at = key;
    uint8_t last[12] = {0};

    for (; bytes > 12; bytes -= 12, at += 12) {
        a += word_at(at);
        b += word_at(at + 4);
        c += word_at(at + 8);
        a = (a - c) ^ left(c, 4);
        c += b;
        b = (b - a) ^ left(a, 6);
        a += c;
        c = (c - b) ^ left(b, 8);
        b += a;
        a = (a - c) ^ left(c, 16);
        c += b;
        b = (b - a) ^ left(a, 19);
        a += c;
        c = (c - b) ^ left(b, 4);
        b += a;
    }
    if (!bytes)
        return c;
    memcpy(last, at, bytes);
    a += word_at(last);
    b += word_at(last + 4);
    c += word_at(last + 8);
    c = (c ^ b) - left(b, 14);
    a = (a ^ c) - left(c, 11);
    b = (b ^ a) - left(a, 25);
    c = (c ^ b) - left(b, 16);
    a = (a ^ c) - left(c, 4);
    b = (b ^ a) - left(a, 14);
    return (c ^ b) - left(b, 24);
}

static uint8_t substitute[256];
static uint32_t table[4][256];
static bool made;

static uint8_t twice(uint8_t x)
{
    return (uint8_t)(x << 1 ^ (x & 0x80 ? 0x1b : 0));
}

/* The substitution is the inverse in the field of 256 elements, by logarithms to base 3, and an
 * affine map; a table's word is one column of the mixing. */
static void make_tables(void)
{
    uint8_t power[255], log[256] = {0}, x = 1;

    for (unsigned i = 0; i < 255; i++, x ^= twice(x)) {
        power[i] = x;
        log[x] = (uint8_t)i;
    }
    for (unsigned i = 0; i < 256; i++) {
        uint8_t inverse = i ? power[(255 - log[i]) % 255] : 0, s = 0x63;
        uint32_t column;

        for (unsigned by = 0; by < 5; by++)
            s ^= (uint8_t)(inverse << by | inverse >> (8 - by));
        substitute[i] = s;
        column = twice(s) | (uint32_t)s << 8 | (uint32_t)s << 16 | (uint32_t)(twice(s) ^ s) << 24;
        for (unsigned t = 0; t < 4; t++)
            table[t][i] = t ? left(column, 8 * t) : column;
    }
    made = true;
}

static uint32_t substitute_word(uint32_t w)
{
    return substitute[w & 255] | (uint32_t)substitute[w >> 8 & 255] << 8 |
           (uint32_t)substitute[w >> 16 & 255] << 16 | (uint32_t)substitute[w >> 24] << 24;
}

void corunner_aes_key(struct corunner_aes *aes, const uint8_t key[16])
{
    uint8_t constant = 1;

    if (!made)
        make_tables();
    for (unsigned i = 0; i < 4; i++)
        aes->round_key[i] = word_at(key + 4 * i);
    for (unsigned i = 4; i < 44; i++) {
        uint32_t w = aes->round_key[i - 1];

        if (i % 4 == 0) {
            w = substitute_word(left(w, 24)) ^ constant;
            constant = twice(constant);
        }
        aes->round_key[i] = aes->round_key[i - 4] ^ w;
    }
}

void corunner_aes_block(const struct corunner_aes *aes, const uint8_t in[16], uint8_t out[16])
{
    const uint32_t *key = aes->round_key;
    uint32_t s[4], t[4];

    for (unsigned i = 0; i < 4; i++)
        s[i] = word_at(in + 4 * i) ^ *key++;
    for (unsigned round = 1; round < 10; round++) {
        for (unsigned i = 0; i < 4; i++)
            t[i] = table[0][s[i] & 255] ^ table[1][s[(i + 1) % 4] >> 8 & 255] ^
                   table[2][s[(i + 2) % 4] >> 16 & 255] ^ table[3][s[(i + 3) % 4] >> 24] ^ *key++;
        memcpy(s, t, sizeof(s));
    }
    for (unsigned i = 0; i < 4; i++) {
        uint32_t w = (s[i] & 0xff) | (s[(i + 1) % 4] & 0xff00) | (s[(i + 2) % 4] & 0xff0000) |
                     (s[(i + 3) % 4] & 0xff000000);

        w = substitute_word(w) ^ *key++;
        memcpy(out + 4 * i, &w, sizeof(w));
    }
}

/* lookup3's own example, and appendix B of FIPS 197. */
const char *corunner_check(void)
{
    static const uint8_t key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                    0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
    static const uint8_t plain[16] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d,
                                      0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
    static const uint8_t cipher[16] = {0x39, 0x25, 0x84, 0x1d, 0x02, 0xdc, 0x09, 0xfb,
                                       0xdc, 0x11, 0x85, 0x97, 0x19, 0x6a, 0x0b, 0x32};
    struct corunner_aes aes;
    uint8_t out[16];

    if (corunner_jhash("Four score and seven years ago", 30, 0) != 0x17770551)
        return "jhash";
    corunner_aes_key(&aes, key);
    corunner_aes_block(&aes, plain, out);
    return memcmp(out, cipher, sizeof(cipher)) ? "AES" : NULL;
}
