/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "caches.h"

#include <errno.h>
#include <stdlib.h>

#include "seed.h"

/* The set and the key of a line in one level. */
struct place {
    uint64_t line;
    uint32_t set;
};

int caches_make(struct caches *caches, const struct shape *shape)
{
    size_t count = (size_t)shape->cpus * SHAPE_LEVELS;

    caches->shape = shape;
    caches->levels = calloc(count, sizeof(*caches->levels));
    caches->at = calloc(count, sizeof(*caches->at));
    if (!caches->levels || !caches->at)
        goto out;
    for (uint32_t cpu = 0; cpu < shape->cpus; cpu++)
        for (uint32_t n = 0; n < shape->levels; n++) {
            const struct cache_shape *cache = &shape->cache[n];
            uint32_t number = cpu * SHAPE_LEVELS + n;
            struct level *level = &caches->levels[cache->shared ? n : number];

            caches->at[number] = level;
            if (cache->shared && cpu)
                continue;
            level->shape = cache;
            level->line_shift = cache->line_shift;
            level->set_mask = cache->sets - 1;
            if (array_make(&level->array, cache->sets, cache->ways, cache->policy,
                           seed_of(shape->seed, number)))
                goto out;
            if (cache->full_lru &&
                array_make(&level->full_lru, 1, cache->sets * cache->ways, ARRAY_LRU, 1))
                goto out;
        }
    return 0;
out:
    caches_free(caches);
    return -ENOMEM;
}

void caches_free(struct caches *caches)
{
    for (uint32_t i = 0; caches->levels && i < caches->shape->cpus * SHAPE_LEVELS; i++) {
        array_free(&caches->levels[i].array);
        array_free(&caches->levels[i].full_lru);
    }
    free(caches->levels);
    free(caches->at);
    caches->levels = NULL;
    caches->at = NULL;
}

static uint32_t hashed(const struct cache_shape *cache, uint64_t address, uint32_t set)
{
    for (uint32_t i = 0; i < cache->rows; i++) {
        uint32_t parity = (uint32_t)__builtin_parityll(address & cache->row[i].mask);

        set = (set & ~(1u << cache->row[i].bit)) | parity << cache->row[i].bit;
    }
    return set;
}

static inline struct place place_of(const struct level *level, uint64_t address)
{
    uint64_t line = address >> level->line_shift;
    uint32_t set = (uint32_t)line & level->set_mask;

    if (__builtin_expect(level->shape->rows != 0, 0))
        set = hashed(level->shape, address, set);
    return (struct place){line, set};
}

uint32_t caches_set(const struct level *level, uint64_t address)
{
    return place_of(level, address).set;
}

/* Remove a line that level `n` evicted from the levels before it, of every CPU that uses level `n`. */
static void drop_before(struct caches *caches, uint32_t cpu, uint32_t n, uint64_t line)
{
    const struct level *from = caches->at[n];
    uint64_t first = line << from->line_shift, end = first + (1ull << from->line_shift);

    for (uint32_t inner = 0; inner < n; inner++) {
        const struct cache_shape *cache = &caches->shape->cache[inner];
        bool everywhere = from->shape->shared && !cache->shared;
        uint32_t low = everywhere ? 0 : cpu, high = everywhere ? caches->shape->cpus : cpu + 1;

        for (uint32_t of = low; of < high; of++) {
            struct level *level = caches->at[of * SHAPE_LEVELS + inner];

            for (uint64_t at = first; at < end; at += 1ull << cache->line_shift) {
                struct place place = place_of(level, at);

                array_drop(&level->array, place.set, place.line);
            }
        }
    }
}

static void fill(struct caches *caches, uint32_t cpu, uint32_t n, struct place place);

/* Put a line that the level before evicted into a victim cache. Where two CPUs held the line, the
 * second to evict it finds it there already. */
static void take_victim(struct caches *caches, uint32_t cpu, uint32_t n, uint64_t address)
{
    struct level *level = caches->at[cpu * SHAPE_LEVELS + n];
    struct place place = place_of(level, address);

    if (!array_use(&level->array, place.set, place.line))
        fill(caches, cpu, n, place);
}

static void fill(struct caches *caches, uint32_t cpu, uint32_t n, struct place place)
{
    struct level *level = caches->at[cpu * SHAPE_LEVELS + n];
    uint64_t gone = array_put(&level->array, place.set, place.line);

    if (gone == ARRAY_NONE)
        return;
    if (level->shape->fill == FILL_INCLUSIVE)
        drop_before(caches, cpu, n, gone);
    if (n + 1 < caches->shape->levels && level->shape[1].fill == FILL_VICTIM)
        take_victim(caches, cpu, n + 1, gone << level->line_shift);
}

/* Look a line up in the fully associative cache beside this level, and add it where it is not
 * there. */
static bool full_lru_misses(struct level *level, uint64_t line)
{
    if (array_use(&level->full_lru, 0, line))
        return false;
    array_put(&level->full_lru, 0, line);
    return true;
}

uint32_t caches_access(struct caches *caches, uint32_t cpu, uint64_t address, uint64_t *missed)
{
    struct level *const *at = &caches->at[cpu * SHAPE_LEVELS];
    uint32_t levels = caches->shape->levels, found;
    struct place places[SHAPE_LEVELS];

    for (found = 0; found < levels; found++) {
        places[found] = place_of(at[found], address);
        if (at[found]->shape->full_lru)
            missed[found] += full_lru_misses(at[found], places[found].line);
        if (array_use(&at[found]->array, places[found].set, places[found].line))
            break;
    }
    if (!found)
        return 0;
    if (found < levels && at[found]->shape->fill == FILL_VICTIM)
        array_drop(&at[found]->array, places[found].set, places[found].line);
    for (uint32_t n = found; n-- > 0;)
        if (at[n]->shape->fill != FILL_VICTIM)
            fill(caches, cpu, n, places[n]);
    return found;
}
