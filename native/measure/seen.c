/* SPDX-License-Identifier: Apache-2.0 */
/* Distinct names in a hash table with linear probing, at most half full; see seen.h. */
#include "seen.h"

#include "digest.h"

#include <stdlib.h>
#include <string.h>

static size_t first_slot(const char *name, size_t length)
{
    struct okosu_digest digest;

    okosu_digest_begin(&digest);
    okosu_digest_add(&digest, name, length);
    return okosu_digest_end(&digest) % OKOSU_SEEN_SLOTS;
}

void okosu_seen_add(struct okosu_seen *seen, struct okosu_seen_bits *bits, const char *name,
                    size_t length)
{
    size_t slot, item;

    length = strnlen(name, length);
    slot = first_slot(name, length);
    for (; seen->slots[slot]; slot = (slot + 1) % OKOSU_SEEN_SLOTS) {
        item = seen->slots[slot] - 1U;
        if (strncmp(seen->items[item], name, length) == 0 && !seen->items[item][length])
            break;
    }
    if (!seen->slots[slot]) {
        char *copy = seen->count < OKOSU_SEEN_LIMIT ? strndup(name, length) : NULL;
        if (!copy) {
            seen->cut = true;
            return;
        }
        seen->items[seen->count++] = copy;
        seen->slots[slot] = (uint16_t)seen->count;
    }
    item = seen->slots[slot] - 1U;
    bits->words[item / 64] |= UINT64_C(1) << (item % 64);
}

void okosu_seen_merge(struct okosu_seen_bits *sum, const struct okosu_seen_bits *more)
{
    for (size_t i = 0; i < OKOSU_SEEN_LIMIT / 64; i++)
        sum->words[i] |= more->words[i];
}

bool okosu_seen_has(const struct okosu_seen_bits *bits, size_t item)
{
    return bits->words[item / 64] >> (item % 64) & 1;
}

void okosu_seen_clear(struct okosu_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        free(seen->items[i]);
    memset(seen, 0, sizeof(*seen));
}
