/* SPDX-License-Identifier: Apache-2.0 */
/* Avail: MemAvailable and the memory limits of control groups (see avail.h). */
#include "base/avail.h"

#include "base/cgroup.h"
#include "base/file.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

struct names {
    const char *limit, *usage;
    const char *cache; /* the line of memory.stat that counts page cache which can be dropped */
};

static const struct names version1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                                      "\ntotal_inactive_file "};
static const struct names version2 = {"/memory.max", "/memory.current", "\ninactive_file "};

/* Static, because the caller may be a thread with a stack of 16 KiB. */
static char path[PATH_MAX], text[4096];
static struct okosu_cgroup_walk walk;

static bool parse(const char *s, size_t *out)
{
    return okosu_file_number(&s, SIZE_MAX, out);
}

static bool parse_after(const char *s, const char *key, size_t *out)
{
    const char *at = strstr(s, key);

    if (!at)
        return false;
    for (at += strlen(key); *at == ' '; at++)
        ;
    return parse(at, out);
}

/* Reads folder/name into `text`. */
static bool read_in(const char *folder, const char *name)
{
    size_t length = strlen(folder);

    if (length + strlen(name) >= sizeof(path))
        return false;
    memcpy(path, folder, length);
    strcpy(path + length, name);
    return okosu_file_slurp(path, text, sizeof(text)) > 0;
}

/* Lowers *data to what this group leaves; a group without a limit changes nothing. */
static bool take_least(const char *folder, bool unified, void *data)
{
    const struct names *names = unified ? &version2 : &version1;
    size_t *least = data, limit, usage, cache = 0, left;

    if (!read_in(folder, names->limit) || !parse(text, &limit) || !read_in(folder, names->usage) ||
        !parse(text, &usage))
        return false;
    if (!read_in(folder, "/memory.stat") || !parse_after(text, names->cache, &cache))
        cache = 0;
    usage -= cache < usage ? cache : usage;
    left = limit > usage ? limit - usage : 0;
    if (left < *least)
        *least = left;
    return false;
}

size_t okosu_avail_bytes(const char *root)
{
    size_t least = SIZE_MAX, kib;

    if (read_in(root, "/proc/meminfo") && parse_after(text, "MemAvailable:", &kib))
        least = kib * 1024;
    okosu_cgroup_walk(&walk, root, "memory", take_least, &least);
    return least;
}
