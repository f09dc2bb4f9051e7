/* SPDX-License-Identifier: Apache-2.0 */
/* Cgroup: reads the lines "ID:CONTROLLERS:PATH" of /proc/self/cgroup (see cgroup.h). */
#include "base/cgroup.h"

#include "base/file.h"

#include <string.h>

#define MOUNT "/sys/fs/cgroup"

/* Puts the parts, which end at NULL, together in `path`. False: they do not fit. */
static bool join(char *path, const char *const *parts)
{
    size_t used = 0;

    for (; *parts; parts++) {
        size_t length = strlen(*parts);

        if (used + length >= PATH_MAX)
            return false;
        memcpy(path + used, *parts, length);
        used += length;
    }
    path[used] = '\0';
    return true;
}

/* Whether `controller` is one of `list`, whose items stand between commas. */
static bool is_listed(const char *list, const char *controller)
{
    size_t length = strlen(controller);

    for (;;) {
        size_t item = strcspn(list, ",");

        if (item == length && memcmp(list, controller, length) == 0)
            return true;
        if (!list[item])
            return false;
        list += item + 1;
    }
}

static void climb(char *folder, size_t mount, bool unified, okosu_cgroup_visit *visit, void *data)
{
    size_t length = strlen(folder);

    if (length > mount && folder[length - 1] == '/')
        folder[length - 1] = '\0';
    while (!visit(folder, unified, data)) {
        char *slash = strrchr(folder + mount, '/');

        if (!slash)
            return;
        *slash = '\0';
    }
}

void okosu_cgroup_walk(struct okosu_cgroup_walk *walk, const char *root, const char *controller,
                       okosu_cgroup_visit *visit, void *data)
{
    char *line, *next;

    if (strcmp(root, "/") == 0)
        root = "";
    if (!join(walk->folder, (const char *const[]){root, "/proc/self/cgroup", NULL}) ||
        okosu_file_slurp(walk->folder, walk->groups, sizeof(walk->groups)) <= 0)
        return;
    for (line = walk->groups; line; line = next) {
        char *controllers = strchr(line, ':'), *group;
        bool unified;

        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        group = controllers ? strchr(++controllers, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        unified = !*controllers;
        if (!unified && !is_listed(controllers, controller))
            continue;
        if (join(walk->folder, (const char *const[]){root, MOUNT, unified ? "" : "/",
                                                     unified ? "" : controller, group, NULL}))
            climb(walk->folder,
                  strlen(root) + strlen(MOUNT) + (unified ? 0 : 1 + strlen(controller)), unified,
                  visit, data);
    }
}
