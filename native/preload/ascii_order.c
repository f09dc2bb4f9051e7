/* SPDX-License-Identifier: Apache-2.0 */
/* The order of strings of ASCII in a language's locale, by ranks of characters.
 *
 * A locale compares in passes: each character has a weight in each pass, of zero or more bytes, and
 * one without a weight is passed over. The first pass in which the sequences of weights differ
 * decides (ISO/IEC 14651; glibc's tables are those that localedef writes). strcoll finds the
 * weights of each character anew, by tables that are made for all of Unicode; here each ASCII
 * character has its rank among the weights of a pass.
 *
 * A character that begins a sequence of ASCII with a weight of its own ("ch" in Czech) has no rank. A
 * character has none in a pass in which it is compared backward or by its position, either. */
#include "ascii.h"

#include <string.h>

#define CHARACTERS 128
#define PASSES 8
/* A process that changes its locale more often than this has its strings compared by libc. */
#define ORDERS 32
/* So many comparisons cost about as much as making the table does. */
#define WORTH 512

/* glibc's flag of a pass that goes forward (locale/localeinfo.h, enum coll_sort_rule). Others go backward
 * (2) or look at positions (4). */
#define FORWARD 1

/* Ranks that are none. END is less than any rank, as a string is less than what it begins. */
enum { END, PASSED_OVER, FIRST_RANK, LIBC = 255 };

struct order {
    /* Whose order it is: where libc has the locale's tables, and when. */
    const void *table;
    unsigned epoch;
    unsigned passes; /* 0: libc decides everything */
    uint8_t rank[PASSES][256];
};

/* A table as it is made, before ranks are known. */
struct weights {
    uint32_t passes;
    const int32_t *table;
    const unsigned char *extra, *rules, *bytes;
    /* Of each character, where libc's tables have it (-1: libc decides), and the weights of all passes. */
    int32_t index[CHARACTERS];
    const unsigned char *of[CHARACTERS];
};

static struct order orders[ORDERS];
static atomic_uint known; /* orders that are complete */
static _Atomic(const struct order *) latest;
static atomic_flag making = ATOMIC_FLAG_INIT;
static atomic_uint compared;

static const char *item(nl_item which, locale_t where)
{
    return where ? nl_langinfo_l(which, where) : nl_langinfo(which);
}

/* The weight in one pass, of at most 255 bytes. */
struct weight {
    const unsigned char *bytes;
    size_t size;
    unsigned rule;
};

static struct weight weight_of(const struct weights *w, unsigned character, unsigned pass)
{
    const unsigned char *at = w->of[character];
    unsigned rules = (uint32_t)w->index[character] >> 24;

    for (unsigned i = 0; i < pass; i++)
        at += 1 + *at;
    return (struct weight){at + 1, *at, w->rules[rules * w->passes + pass]};
}

/* As strcoll compares weights, byte by byte; `prefix` where one is the beginning of the other, so
 * that what follows them would matter. */
static int compare_weights(struct weight a, struct weight b, bool *prefix)
{
    int difference = memcmp(a.bytes, b.bytes, a.size < b.size ? a.size : b.size);

    *prefix = !difference && a.size != b.size;
    return difference;
}

/* Fills one pass's ranks. False: weights cannot be ranked, since one is the beginning of another. */
static bool rank_pass(const struct weights *w, unsigned pass, uint8_t rank[256])
{
    bool prefix, ranked = true;

    memset(rank, LIBC, 256);
    rank[0] = END;
    for (unsigned c = 1; c < CHARACTERS; c++) {
        struct weight own = w->of[c] ? weight_of(w, c, pass) : (struct weight){0};
        unsigned below = 0;

        if (!w->of[c] || own.rule != FORWARD)
            continue;
        for (unsigned d = 1; own.size && d < CHARACTERS; d++) {
            struct weight other = w->of[d] ? weight_of(w, d, pass) : (struct weight){0};

            if (!other.size)
                continue;
            below += compare_weights(other, own, &prefix) < 0;
            ranked &= !prefix;
        }
        rank[c] = (uint8_t)(own.size ? FIRST_RANK + below : PASSED_OVER);
    }
    return ranked;
}

/* A result of 0: they are equal in all passes that are known. False: they hold something without a
 * rank. */
static bool compare_ranks(const struct order *order, const char *a, const char *b, int *result)
{
    for (unsigned pass = 0; pass < order->passes; pass++) {
        const uint8_t *rank = order->rank[pass];
        const unsigned char *s = (const unsigned char *)a, *t = (const unsigned char *)b;
        uint8_t x, y;

        do {
            do
                x = rank[*s++];
            while (x == PASSED_OVER);
            do
                y = rank[*t++];
            while (y == PASSED_OVER);
        } while (x == y && x != END && x != LIBC);
        if (x == LIBC || y == LIBC)
            return false;
        *result = (int)x - (int)y;
        /* The two that differ may be weighed together with what is not ASCII and follows them. */
        if (*result)
            return (x == END || *s < CHARACTERS) && (y == END || *t < CHARACTERS);
    }
    *result = 0;
    return true;
}

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

/* Whether libc orders pairs of characters as the ranks do, so that its tables are what they are taken for. */
static bool agrees(const struct order *order, locale_t where)
{
    for (unsigned c = 1; c < CHARACTERS; c++) {
        for (unsigned step = 1; step < CHARACTERS; step *= 2) {
            char a[3] = {(char)c, 'a', 0}, b[3] = {(char)((c + step) % CHARACTERS), 'a', 0};
            int ours, libcs;

            if (!b[0] || !compare_ranks(order, a, b, &ours) || !ours)
                continue;
            libcs =
                where ? okosu_ascii_next.strcoll_l(a, b, where) : okosu_ascii_next.strcoll(a, b);
            if (sign(ours) != sign(libcs))
                return false;
        }
    }
    return true;
}

/* The index of a character where what follows it is ASCII: -1 if it then begins a sequence with a weight of its
 * own. libc lists such sequences by index, number of bytes after the first, and these bytes; the last one is the
 * character alone. */
static int32_t index_of(const struct weights *w, unsigned character)
{
    int32_t index = w->table[character];
    const unsigned char *at = w->extra - index;

    while (index < 0) {
        size_t more = at[sizeof(index)];

        memcpy(&index, at, sizeof(index));
        /* A negative index is that of a range of sequences. */
        if (index < 0 || (more && at[sizeof(index) + 1] < CHARACTERS))
            return -1;
        if (more)
            index = -1;
        at += (sizeof(index) + 1 + more + 3) & ~(size_t)3;
    }
    return index;
}

static void read_weights(struct weights *w, locale_t where)
{
    w->passes = (uint32_t)(uintptr_t)item(_NL_COLLATE_NRULES, where);
    w->table = (const int32_t *)item(_NL_COLLATE_TABLEMB, where);
    w->extra = (const unsigned char *)item(_NL_COLLATE_EXTRAMB, where);
    w->rules = (const unsigned char *)item(_NL_COLLATE_RULESETS, where);
    w->bytes = (const unsigned char *)item(_NL_COLLATE_WEIGHTMB, where);
    for (unsigned c = 1; w->passes && c < CHARACTERS; c++) {
        w->index[c] = index_of(w, c);
        w->of[c] = w->index[c] < 0 ? NULL : &w->bytes[w->index[c] & 0xffffff];
    }
}

bool okosu_order_is_of_characters(void)
{
    struct weights w = {0};

    read_weights(&w, NULL);
    for (unsigned c = 1; w.passes && c < CHARACTERS; c++) {
        if (!w.of[c])
            return false;
    }
    return true;
}

static void make(struct order *order, locale_t where)
{
    struct weights w = {0};

    read_weights(&w, where);
    order->passes = 0;
    if (!w.passes || w.passes > PASSES)
        return;
    while (order->passes < w.passes && rank_pass(&w, order->passes, order->rank[order->passes]))
        order->passes++;
    if (!agrees(order, where))
        order->passes = 0;
}

/* The order of the locale whose table this is, made if there have been enough comparisons. */
static const struct order *find(const void *table, locale_t where)
{
    unsigned now = atomic_load(&okosu_ascii_epoch), count = atomic_load(&known);
    const struct order *found = NULL;

    for (unsigned i = count; !found && i--;)
        found = orders[i].table == table && orders[i].epoch == now ? &orders[i] : NULL;
    if (!found && count < ORDERS &&
        atomic_fetch_add_explicit(&compared, 1, memory_order_relaxed) % WORTH == WORTH - 1 &&
        !atomic_flag_test_and_set(&making)) {
        count = atomic_load(&known);
        if (count < ORDERS) {
            orders[count].table = table;
            orders[count].epoch = now;
            make(&orders[count], where);
            found = &orders[count];
            atomic_store(&known, count + 1);
        }
        atomic_flag_clear(&making);
    }
    if (found)
        atomic_store(&latest, found);
    return found;
}

bool okosu_order_compare(const char *a, const char *b, locale_t where, int *result)
{
    const void *table = item(_NL_COLLATE_TABLEMB, where);
    const struct order *order = atomic_load_explicit(&latest, memory_order_acquire);

    if (!order || order->table != table ||
        order->epoch != atomic_load_explicit(&okosu_ascii_epoch, memory_order_relaxed))
        order = find(table, where);
    return order && order->passes && compare_ranks(order, a, b, result) && *result;
}

void okosu_order_forked(void)
{
    atomic_flag_clear(&making);
}
