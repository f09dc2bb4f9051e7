/* SPDX-License-Identifier: Apache-2.0 */
/* Which colours a process and its children may have, on a kernel with the series page-colour: a
 * cpuset says it. */
#ifndef COLOUR_MASK_H
#define COLOUR_MASK_H

#include "work.h"

#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define COLOUR_MASK_ROOT "/tmp/colour-mask"

static inline void colour_mask_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        work_fail(path);
    close(fd);
}

static inline void colour_mask_folder(const char *path)
{
    if (mkdir(path, 0755) && errno != EEXIST)
        work_fail(path);
}

/* Enter a cpuset of the colours of which `mask`, for the first 64, has the bits; 0: stay where any
 * colour is to be had. The cpuset stays when the process has ended. */
static inline void colour_mask(uint64_t mask)
{
    char group[64], path[128], list[64 * 4] = "";

    if (!mask)
        return;
    colour_mask_folder(COLOUR_MASK_ROOT);
    /* It is mounted once: another process may be about to as well. */
    if (access(COLOUR_MASK_ROOT "/cgroup.procs", F_OK) &&
        mount("none", COLOUR_MASK_ROOT, "cgroup2", 0, NULL) && errno != EBUSY)
        work_fail("mount");
    colour_mask_write(COLOUR_MASK_ROOT "/cgroup.subtree_control", "+cpuset");
    snprintf(group, sizeof(group), COLOUR_MASK_ROOT "/%jx", (uintmax_t)mask);
    colour_mask_folder(group);
    for (int colour = 0; colour < 64; colour++)
        if (mask >> colour & 1)
            snprintf(list + strlen(list), sizeof(list) - strlen(list), "%d,", colour);
    snprintf(path, sizeof(path), "%s/cpuset.mems.colors", group);
    colour_mask_write(path, list);
    snprintf(path, sizeof(path), "%s/cgroup.procs", group);
    colour_mask_write(path, "0");
}

#endif
