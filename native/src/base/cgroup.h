/* SPDX-License-Identifier: Apache-2.0 */
/* Cgroup: the control groups that this process is in, versions 1 and 2, read without allocating. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* Working memory of a walk, given by the caller, whose thread may have a stack of only 16 KiB. */
struct okosu_cgroup_walk {
    char groups[4096];
    char folder[PATH_MAX];
};

/* `folder` holds the group's files; `unified` says that they are version 2's. True ends the climb
 * in this hierarchy. */
typedef bool okosu_cgroup_visit(const char *folder, bool unified, void *data);

/* Visits the group of this process in each hierarchy that may have `controller`, and then every
 * group above it up to the mount. In a container the path of the group may be the host's and not
 * exist; the mount, which is then the container's own group, always does. `root` is put before
 * every path ("" or "/" is the machine's). */
void okosu_cgroup_walk(struct okosu_cgroup_walk *walk, const char *root, const char *controller,
                       okosu_cgroup_visit *visit, void *data);
