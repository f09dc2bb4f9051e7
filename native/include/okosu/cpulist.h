/* SPDX-License-Identifier: Apache-2.0 */
/* cpulist: sets of CPUs or NUMA nodes, and the kernel's notation for them ("0-3,8", "0-15:2"). */
#ifndef OKOSU_CPULIST_H
#define OKOSU_CPULIST_H

#include <okosu/api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest NR_CPUS of any kernel configuration that is in use (x86-64 with MAXSMP). */
#define OKOSU_CPU_LIMIT 8192

struct okosu_cpuset {
    uint64_t bits[OKOSU_CPU_LIMIT / 64];
};

static inline bool okosu_cpuset_has(const struct okosu_cpuset *set, unsigned cpu)
{
    return cpu < OKOSU_CPU_LIMIT && (set->bits[cpu / 64] >> (cpu % 64) & 1);
}

static inline void okosu_cpuset_add(struct okosu_cpuset *set, unsigned cpu)
{
    if (cpu < OKOSU_CPU_LIMIT)
        set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

OKOSU_API size_t okosu_cpuset_count(const struct okosu_cpuset *set);
OKOSU_API bool okosu_cpuset_equal(const struct okosu_cpuset *a, const struct okosu_cpuset *b);
/* Members of a that are in b (or, with okosu_cpuset_without, that are not). */
OKOSU_API struct okosu_cpuset okosu_cpuset_within(const struct okosu_cpuset *a,
                                                  const struct okosu_cpuset *b);
OKOSU_API struct okosu_cpuset okosu_cpuset_without(const struct okosu_cpuset *a,
                                                   const struct okosu_cpuset *b);
/* The lowest member not below `from`, or OKOSU_CPU_LIMIT. */
OKOSU_API unsigned okosu_cpuset_next(const struct okosu_cpuset *set, unsigned from);

/* Read "0-3,8,16-23:2" (a stride after a colon) as an ordered list without repetitions. At most
 * `room` numbers go to `cpus`. Returns how many there are; -EINVAL: not such a list, or a number
 * twice; -ERANGE: a number of OKOSU_CPU_LIMIT or more, or more than `room` of them. */
OKOSU_API long okosu_cpulist_parse(const char *text, unsigned *cpus, size_t room);
/* The same as a set, where the order is of no interest and repetitions do no harm; "" is the empty
 * set. 0 or -errno. */
OKOSU_API int okosu_cpulist_parse_set(const char *text, struct okosu_cpuset *set);
/* Write the set as ranges ("" for the empty set). Returns the length, or -ENOSPC with the text cut
 * at a comma. */
OKOSU_API long okosu_cpulist_format(const struct okosu_cpuset *set, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
