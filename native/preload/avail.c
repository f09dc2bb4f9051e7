/* SPDX-License-Identifier: Apache-2.0 */
/* MemAvailable and the cgroup limits of versions 1 and 2 (see avail.h). */
#include "avail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct hierarchy {
    const char *mount;
    const char *limit, *usage;
    const char *cache; /* the line of memory.stat that counts page cache which can be dropped */
};

static const struct hierarchy version1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                          "memory.usage_in_bytes", "\ntotal_inactive_file "};
static const struct hierarchy version2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                          "\ninactive_file "};

/* Static, for the caller may be a thread with a stack of 16 KiB. */
static char path[PATH_MAX], text[4096], groups[4096];

ssize_t okosu_avail_slurp(const char *file, char *out, size_t size)
{
    size_t used = 0;
    ssize_t got = 0;
    int fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    while (used < size - 1) {
        got = read(fd, out + used, size - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    if (got < 0)
        got = -errno;
    close(fd);
    out[used] = '\0';
    return got < 0 ? got : (ssize_t)used;
}

static bool parse(const char *s, size_t *out)
{
    size_t value = 0;

    if (*s < '0' || *s > '9')
        return false;
    for (; *s >= '0' && *s <= '9'; s++) {
        size_t digit = (size_t)(*s - '0');

        if (value > (SIZE_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
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

/* Puts the parts together in `path`. */
static bool join(const char *const *parts)
{
    size_t used = 0;

    for (; *parts; parts++) {
        size_t len = strlen(*parts);

        if (used + len >= PATH_MAX)
            return false;
        memcpy(path + used, *parts, len);
        used += len;
    }
    path[used] = '\0';
    return true;
}

static ssize_t read_in_group(const char *root, const struct hierarchy *h, const char *group,
                             const char *name)
{
    if (!join((const char *const[]){root, h->mount, group, "/", name, NULL}))
        return -ENAMETOOLONG;
    return okosu_avail_slurp(path, text, sizeof text);
}

/* What one cgroup leaves, SIZE_MAX where it has no limit or cannot be read. */
static size_t left_in_group(const char *root, const struct hierarchy *h, const char *group)
{
    size_t limit, usage, cache = 0;

    if (read_in_group(root, h, group, h->limit) <= 0 || !parse(text, &limit))
        return SIZE_MAX;
    if (read_in_group(root, h, group, h->usage) <= 0 || !parse(text, &usage))
        return SIZE_MAX;
    if (read_in_group(root, h, group, "memory.stat") > 0 && !parse_after(text, h->cache, &cache))
        cache = 0;
    usage -= cache < usage ? cache : usage;
    return limit > usage ? limit - usage : 0;
}

/* Walks from GROUP up to the root of the hierarchy. In a container the path may be the host's and
 * not exist here; its root, which is then the container's own group, always does.
 */
static size_t left_above(const char *root, const struct hierarchy *h, char *group)
{
    size_t least = SIZE_MAX;

    for (;;) {
        size_t left = left_in_group(root, h, group);
        char *slash = strrchr(group, '/');

        if (left < least)
            least = left;
        if (!slash)
            return least;
        *slash = '\0';
    }
}

size_t okosu_avail_bytes(const char *root)
{
    char *line, *next;
    size_t least = SIZE_MAX, kib;

    if (join((const char *const[]){root, "/proc/meminfo", NULL}) &&
        okosu_avail_slurp(path, text, sizeof text) > 0 && parse_after(text, "MemAvailable:", &kib))
        least = kib * 1024;
    if (!join((const char *const[]){root, "/proc/self/cgroup", NULL}) ||
        okosu_avail_slurp(path, groups, sizeof groups) <= 0)
        return least;
    for (line = groups; line; line = next) {
        const struct hierarchy *h = NULL;
        char *group = NULL;
        size_t left;

        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (strncmp(line, "0::", 3) == 0) {
            h = &version2;
            group = line + 3;
        } else if (strstr(line, ":memory:")) {
            h = &version1;
            group = strstr(line, ":memory:") + strlen(":memory:");
        }
        if (!group)
            continue;
        left = left_above(root, h, group);
        if (left < least)
            least = left;
    }
    return least;
}
