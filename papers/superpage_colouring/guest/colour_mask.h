/* SPDX-License-Identifier: Apache-2.0 */
/* Which colours a process and its children may have, on any kernel with the series page-colour: by
 * prctl() on Linux 6.12, by a cpuset on 7.3. */
#ifndef COLOUR_MASK_H
#define COLOUR_MASK_H

#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "work.h"

#define COLOUR_MASK_SET 0x50434c53
#define COLOUR_MASK_ROOT "/tmp/colour-mask"

static void colour_mask_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        work_fail(path);
    close(fd);
}

static void colour_mask_folder(const char *path)
{
    if (mkdir(path, 0755) && errno != EEXIST)
        work_fail(path);
}

/* Enter a cpuset of those colours. It stays when the process has ended. */
static void colour_mask_cpuset(uint64_t mask)
{
    char group[64], path[128], list[64 * 4] = "";

    colour_mask_folder(COLOUR_MASK_ROOT);
    if (access(COLOUR_MASK_ROOT "/cgroup.procs", F_OK) &&
        mount("none", COLOUR_MASK_ROOT, "cgroup2", 0, NULL))
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

/* `mask` has a bit for each of the first 64 colours; 0: any colour. */
static inline void colour_mask(uint64_t mask)
{
    if (!mask || !prctl(COLOUR_MASK_SET, &mask, sizeof(mask), 0, 0))
        return;
    if (errno != EINVAL)
        work_fail("PR_SET_PAGE_COLORS");
    colour_mask_cpuset(mask);
}

#endif
