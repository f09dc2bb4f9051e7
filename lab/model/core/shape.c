/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "shape.h"

#include <errno.h>
#include <string.h>

#include "words.h"

#define MOST_BYTES (1ull << 32)
#define MOST_ENTRIES (1ull << 20)

static bool choice(const char *word, const char *const *names, int count, int *chosen)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(word, names[i])) {
            *chosen = i;
            return true;
        }
    return false;
}

static bool power_of_two(uint64_t number)
{
    return number && !(number & (number - 1));
}

static bool policy_of(const char *word, uint64_t ways, enum array_policy *policy)
{
    static const char *const names[] = {"lru", "plru", "random"};
    int chosen;

    if (!choice(word, names, 3, &chosen))
        return false;
    *policy = (enum array_policy)chosen;
    return *policy != ARRAY_PLRU || (power_of_two(ways) && ways <= ARRAY_PLRU_WAYS);
}

/* Say why a level cannot follow the one before it, or NULL. */
static const char *misfit(const struct shape *shape, const struct cache_shape *cache)
{
    const struct cache_shape *before;

    if (!shape->levels)
        return cache->fill == FILL_VICTIM ? "the first level is no victim cache" : NULL;
    before = cache - 1;
    if (cache->line_shift < before->line_shift)
        return "a level's lines are at least as long as those before it";
    if (cache->fill == FILL_VICTIM && cache->line_shift != before->line_shift)
        return "a victim cache has the lines of the level before it";
    if (before->shared && !cache->shared)
        return "what is behind a shared level is shared";
    return NULL;
}

static const char *read_cache(const struct words *words, struct shape *shape)
{
    static const char *const fills[] = {"none", "inclusive", "victim"};
    static const char *const sharings[] = {"private", "shared"};
    struct cache_shape *cache = &shape->cache[shape->levels];
    uint64_t bytes, ways, line;
    const char *wrong;
    int fill, sharing;

    if (shape->levels == SHAPE_LEVELS)
        return "too many levels of caches";
    if (words->count != 7 || !words_number(words->word[1], 1, MOST_BYTES, &bytes) ||
        !words_number(words->word[2], 1, MOST_ENTRIES, &ways) ||
        !words_number(words->word[3], 8, 4096, &line) || !power_of_two(line))
        return "a cache is BYTES WAYS LINE POLICY FILL SHARING";
    if (bytes % (ways * line) || !power_of_two(bytes / (ways * line)))
        return "the sets of a cache are a power of two";
    if (bytes / line > UINT32_MAX / 8)
        return "a cache of so many lines is too large";
    if (!policy_of(words->word[4], ways, &cache->policy))
        return "replacement is lru, random, or plru with up to 64 ways, a power of two";
    if (!choice(words->word[5], fills, 3, &fill) || !choice(words->word[6], sharings, 2, &sharing))
        return "a cache is none, inclusive or victim, and private or shared";
    cache->ways = (uint32_t)ways;
    cache->sets = (uint32_t)(bytes / (ways * line));
    cache->line_shift = (uint32_t)__builtin_ctzll(line);
    cache->fill = (enum fill)fill;
    cache->shared = sharing;
    wrong = misfit(shape, cache);
    if (!wrong)
        shape->levels++;
    return wrong;
}

static const char *read_row(const struct words *words, struct shape *shape)
{
    struct cache_shape *cache;
    uint64_t bit, mask;

    if (!shape->levels)
        return "a row belongs to the cache before it";
    cache = &shape->cache[shape->levels - 1];
    if (cache->rows == SHAPE_ROWS)
        return "too many rows";
    if (words->count != 3 || !words_number(words->word[1], 0, 31, &bit) ||
        !words_number(words->word[2], 1, UINT64_MAX, &mask))
        return "a row is BIT MASK";
    if ((1ull << bit) >= cache->sets || mask & ((1ull << cache->line_shift) - 1))
        return "a row's BIT is one of the set number, its MASK above the line";
    for (uint32_t i = 0; i < cache->rows; i++)
        if (cache->row[i].bit == bit)
            return "a bit of the set number has one row";
    cache->row[cache->rows++] = (struct row){(uint32_t)bit, mask};
    return NULL;
}

static const char *read_full_lru(const struct words *words, struct shape *shape)
{
    /* Not for the first level: most of its hits are found by a shortcut, which a cache beside it
     * would not see. */
    if (shape->levels < 2 || words->count != 1)
        return "full-lru is a word by itself, after a cache beyond the first";
    shape->cache[shape->levels - 1].full_lru = true;
    return NULL;
}

static const char *read_tlb(const struct words *words, struct shape *shape)
{
    static const char *const pages[] = {"4k", "2m", "4k+2m"};
    struct tlb_shape *tlb = &shape->tlb[shape->tlbs];
    uint64_t level, entries, ways;
    int held;

    if (shape->tlbs == SHAPE_TLBS)
        return "too many TLBs";
    if (words->count != 6 || !words_number(words->word[1], 1, SHAPE_TLB_LEVELS, &level) ||
        !words_number(words->word[2], 1, MOST_ENTRIES, &entries) ||
        !words_number(words->word[3], 1, entries, &ways) ||
        !choice(words->word[5], pages, 3, &held))
        return "a tlb is LEVEL ENTRIES WAYS POLICY PAGES";
    if (level != shape->tlb_levels && level != shape->tlb_levels + 1)
        return "the levels of TLBs come in order";
    if (entries % ways || !power_of_two(entries / ways))
        return "the sets of a TLB are a power of two";
    if (!policy_of(words->word[4], ways, &tlb->policy))
        return "replacement is lru, random, or plru with up to 64 ways, a power of two";
    tlb->level = (uint32_t)level - 1;
    tlb->ways = (uint32_t)ways;
    tlb->sets = (uint32_t)(entries / ways);
    tlb->holds[PAGE_4K] = held != 1;
    tlb->holds[PAGE_2M] = held != 0;
    for (uint32_t i = 0; i < shape->tlbs; i++)
        for (int size = 0; size < SHAPE_SIZES; size++)
            if (shape->tlb[i].level == tlb->level && shape->tlb[i].holds[size] && tlb->holds[size])
                return "a level has one TLB for a page size";
    shape->tlb_levels = (uint32_t)level;
    shape->tlbs++;
    return NULL;
}

static const char *read_one(const struct words *words, struct shape *shape)
{
    static const char *const pages[] = {"4k", "2m"};
    const char *const *word = (const char *const *)words->word;
    uint64_t number;
    int size;

    if (!strcmp(word[0], "cache"))
        return read_cache(words, shape);
    if (!strcmp(word[0], "row"))
        return read_row(words, shape);
    if (!strcmp(word[0], "full-lru"))
        return read_full_lru(words, shape);
    if (!strcmp(word[0], "tlb"))
        return read_tlb(words, shape);
    if (words->count != 2)
        return "no statement is like this";
    if (!strcmp(word[0], "seed"))
        return words_number(word[1], 0, UINT64_MAX, &shape->seed) ? NULL : "seed is a number";
    if (!strcmp(word[0], "cpus")) {
        if (!words_number(word[1], 1, SHAPE_CPUS, &number))
            return "cpus is 1 to 64";
        shape->cpus = (uint32_t)number;
        return NULL;
    }
    if (!strcmp(word[0], "kernel-pages")) {
        if (!choice(word[1], pages, 2, &size))
            return "kernel-pages is 4k or 2m";
        shape->kernel_pages = (enum page_size)size;
        return NULL;
    }
    return "no statement is like this";
}

int shape_read(FILE *file, struct shape *shape, char *why, size_t room)
{
    struct words words = {0};
    const char *wrong = NULL;
    int more;

    *shape = (struct shape){.cpus = 1};
    more = words_next(file, &words);
    if (more <= 0 || words.count != 2 || strcmp(words.word[0], "okosu-model") ||
        strcmp(words.word[1], "1"))
        wrong = "the first statement is okosu-model 1";
    while (!wrong && (more = words_next(file, &words)) > 0)
        wrong = read_one(&words, shape);
    if (!wrong && more < 0)
        wrong = "a line is too long";
    if (!wrong && !shape->levels)
        wrong = "there is no cache";
    if (!wrong)
        return 0;
    snprintf(why, room, "line %u: %s", words.line, wrong);
    return -EINVAL;
}
