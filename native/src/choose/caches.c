/* SPDX-License-Identifier: Apache-2.0 */
/* caches: cache sizes from /sys/devices/system/cpu/cpuN/cache, else from CPUID. */
#include "choose/caches.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Keep the larger: hybrid machines list two caches of one level. */
static void note(struct okosu_caches *caches, unsigned level, size_t bytes)
{
    size_t *slot = level == 1   ? &caches->l1d
                   : level == 2 ? &caches->l2
                   : level == 3 ? &caches->l3
                                : NULL;
    if (slot && *slot < bytes)
        *slot = bytes;
}

static bool attribute(char *text, size_t size, unsigned cpu, unsigned index, const char *name)
{
    char path[96];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index,
             name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static void from_sys(struct okosu_caches *caches, unsigned cpu)
{
    char type[16], level[8], size[24];
    for (unsigned index = 0; attribute(type, sizeof(type), cpu, index, "type"); index++) {
        if (type[0] == 'I' || !attribute(level, sizeof(level), cpu, index, "level") ||
            !attribute(size, sizeof(size), cpu, index, "size"))
            continue;
        size_t bytes = 0;
        char *p = size;
        for (; *p >= '0' && *p <= '9'; p++)
            bytes = bytes * 10 + (size_t)(*p - '0');
        note(caches, (unsigned)(level[0] - '0'),
             *p == 'K'   ? bytes << 10
             : *p == 'M' ? bytes << 20
             : *p == 'G' ? bytes << 30
                         : bytes);
    }
}

#if defined(__x86_64__)
/* Leaf 4 of Intel and leaf 0x8000001D of AMD have one layout: AMD64 manual, volume 3, appendix
 * E. */
static void from_cpuid_leaf(struct okosu_caches *caches, unsigned leaf)
{
    unsigned a, b, c, d;
    for (unsigned index = 0; index < 16; index++) {
        if (!__get_cpuid_count(leaf, index, &a, &b, &c, &d) || !(a & 0x1f))
            return;
        size_t ways = (b >> 22 & 0x3ff) + 1, partitions = (b >> 12 & 0x3ff) + 1;
        size_t line = (b & 0xfff) + 1, sets = (size_t)c + 1;
        if ((a & 0x1f) != 2)
            note(caches, a >> 5 & 7, ways * partitions * line * sets);
    }
}
#endif

struct okosu_caches okosu_caches_read(unsigned cpu)
{
    struct okosu_caches caches = {0, 0, 0};
    int saved = errno;
    from_sys(&caches, cpu);
    errno = saved;
#if defined(__x86_64__)
    if (!caches.l1d)
        from_cpuid_leaf(&caches, 0x8000001d);
    if (!caches.l1d)
        from_cpuid_leaf(&caches, 4);
#endif
    return caches;
}
