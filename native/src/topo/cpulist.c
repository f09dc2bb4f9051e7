/* SPDX-License-Identifier: Apache-2.0 */
/* cpulist: the kernel's list notation, read strictly: what taskset silently drops is an error
 * here. */
#include <okosu/cpulist.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

size_t okosu_cpuset_count(const struct okosu_cpuset *set)
{
    size_t count = 0;

    for (size_t i = 0; i < OKOSU_CPU_LIMIT / 64; i++)
        count += (size_t)__builtin_popcountll(set->bits[i]);
    return count;
}

bool okosu_cpuset_equal(const struct okosu_cpuset *a, const struct okosu_cpuset *b)
{
    return memcmp(a->bits, b->bits, sizeof(a->bits)) == 0;
}

struct okosu_cpuset okosu_cpuset_within(const struct okosu_cpuset *a, const struct okosu_cpuset *b)
{
    struct okosu_cpuset both;

    for (size_t i = 0; i < OKOSU_CPU_LIMIT / 64; i++)
        both.bits[i] = a->bits[i] & b->bits[i];
    return both;
}

struct okosu_cpuset okosu_cpuset_without(const struct okosu_cpuset *a, const struct okosu_cpuset *b)
{
    struct okosu_cpuset rest;

    for (size_t i = 0; i < OKOSU_CPU_LIMIT / 64; i++)
        rest.bits[i] = a->bits[i] & ~b->bits[i];
    return rest;
}

unsigned okosu_cpuset_next(const struct okosu_cpuset *set, unsigned from)
{
    for (unsigned word = from / 64; word < OKOSU_CPU_LIMIT / 64; word++) {
        uint64_t bits = set->bits[word];

        if (word == from / 64)
            bits &= ~UINT64_C(0) << (from % 64);
        if (bits)
            return word * 64 + (unsigned)__builtin_ctzll(bits);
    }
    return OKOSU_CPU_LIMIT;
}

static int read_number(const char **at, unsigned *number)
{
    unsigned value = 0;
    const char *digit = *at;

    if (*digit < '0' || *digit > '9')
        return -EINVAL;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        value = value * 10 + (unsigned)(*digit - '0');
        if (value >= OKOSU_CPU_LIMIT)
            return -ERANGE;
    }
    *at = digit;
    *number = value;
    return 0;
}

static int read_range(const char **at, unsigned *first, unsigned *last, unsigned *stride)
{
    int rc = read_number(at, first);

    *last = *first;
    *stride = 1;
    if (rc)
        return rc;
    if (**at == '-') {
        ++*at;
        rc = read_number(at, last);
        if (rc)
            return rc;
        if (**at == ':') {
            ++*at;
            rc = read_number(at, stride);
            if (rc)
                return rc;
        }
    }
    return *last < *first || *stride == 0 ? -EINVAL : 0;
}

long okosu_cpulist_parse(const char *text, unsigned *cpus, size_t room)
{
    struct okosu_cpuset seen = {0};
    size_t count = 0;

    for (;;) {
        unsigned first, last, stride;
        int rc = read_range(&text, &first, &last, &stride);

        if (rc)
            return rc;
        for (unsigned cpu = first; cpu <= last; cpu += stride) {
            if (okosu_cpuset_has(&seen, cpu))
                return -EINVAL;
            if (count == room)
                return -ERANGE;
            okosu_cpuset_add(&seen, cpu);
            cpus[count++] = cpu;
        }
        if (*text == '\0')
            return (long)count;
        if (*text++ != ',')
            return -EINVAL;
    }
}

int okosu_cpulist_parse_set(const char *text, struct okosu_cpuset *set)
{
    memset(set, 0, sizeof(*set));
    if (*text == '\0')
        return 0;
    for (;;) {
        unsigned first, last, stride;
        int rc = read_range(&text, &first, &last, &stride);

        if (rc)
            return rc;
        for (unsigned cpu = first; cpu <= last; cpu += stride)
            okosu_cpuset_add(set, cpu);
        if (*text == '\0')
            return 0;
        if (*text++ != ',')
            return -EINVAL;
    }
}

long okosu_cpulist_format(const struct okosu_cpuset *set, char *text, size_t size)
{
    size_t used = 0;

    if (size == 0)
        return -ENOSPC;
    text[0] = '\0';
    for (unsigned first = okosu_cpuset_next(set, 0); first < OKOSU_CPU_LIMIT;) {
        unsigned last = first;
        char range[32];
        int length;

        while (okosu_cpuset_has(set, last + 1))
            last++;
        length = last > first
                     ? snprintf(range, sizeof(range), "%s%u-%u", used ? "," : "", first, last)
                     : snprintf(range, sizeof(range), "%s%u", used ? "," : "", first);
        if (used + (size_t)length >= size)
            return -ENOSPC;
        memcpy(text + used, range, (size_t)length + 1);
        used += (size_t)length;
        first = okosu_cpuset_next(set, last + 1);
    }
    return (long)used;
}
