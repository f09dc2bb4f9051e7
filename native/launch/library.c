/* SPDX-License-Identifier: Apache-2.0 */
/* Library: where the preload library lies, seen from this launcher: a build tree, an installation
 * or a wheel; and how LD_PRELOAD names it. */
#include "prepare.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY OKOSU_PRELOAD_LIBRARY

/* From the folder of glibc's libraries to the root, whose parent is the root itself. */
#define ROOT_BY_GLIBC "/$LIB/../../../../../../../.."

/* Below the folder of okosu-run; the plain ones first, since a glob reads directories. */
static const char *const places[] = {
    "/" LIBRARY,
    "/../preload/" LIBRARY,
    "/../lib/okosu/" LIBRARY,
    "/../lib*/okosu/" LIBRARY,
    "/../lib*/*-linux-*/okosu/" LIBRARY,
    "/../share/okosu/" LIBRARY,
};

/* LD_PRELOAD needs an absolute path once the program changes its directory, and "x/.." is no help
 * in messages. */
static char *absolute(struct okosu_arena *arena, const char *path)
{
    char *real = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
    char *copy = real ? okosu_arena_strndup(arena, real, strlen(real)) : NULL;

    free(real);
    return copy;
}

/* `pattern` below `folder`, whose own name is taken as it is, whatever characters it holds. */
static char *look(struct okosu_arena *arena, const char *folder, const char *pattern)
{
    char *quoted, *full, *found = NULL;
    size_t at = 0;
    glob_t hits;

    if (!strchr(pattern, '*')) {
        full = okosu_arena_printf(arena, "%s%s", folder, pattern);
        return full ? absolute(arena, full) : NULL;
    }
    quoted = okosu_arena_alloc(arena, 2 * strlen(folder) + 1);
    for (const char *byte = folder; quoted && *byte; byte++) {
        if (strchr("*?[]\\", *byte))
            quoted[at++] = '\\';
        quoted[at++] = *byte;
    }
    full = quoted ? okosu_arena_printf(arena, "%s%s", quoted, pattern) : NULL;
    if (full && glob(full, 0, NULL, &hits) == 0) {
        found = absolute(arena, hits.gl_pathv[0]);
        globfree(&hits);
    }
    return found;
}

char *okosu_prepare_library(struct okosu_arena *arena, const char *self)
{
    const char *named = getenv("OKOSU_PRELOAD_LIB");
    const char *slash = strrchr(self, '/');
    char *folder, *found = NULL;

    if (named && *named)
        return absolute(arena, named);
    folder = slash ? okosu_arena_strndup(arena, self, (size_t)(slash - self)) : NULL;
    for (size_t i = 0; folder && !found && i < sizeof(places) / sizeof(places[0]); i++)
        found = look(arena, folder, places[i]);
    return found;
}

/* Whether this system's glibc reaches the root by that name: the C library itself, which is loaded,
 * is looked up by it. */
static bool reaches_root(struct okosu_arena *arena)
{
    Dl_info libc;
    char *path =
        dladdr(dlsym(RTLD_DEFAULT, "malloc"), &libc) ? realpath(libc.dli_fname, NULL) : NULL;
    char *name = path ? okosu_arena_printf(arena, ROOT_BY_GLIBC "%s", path) : NULL;
    void *same = name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;

    free(path);
    if (same)
        dlclose(same);
    return same != NULL;
}

/* The program's children inherit LD_PRELOAD. The loader of musl ends a child for which it cannot
 * link a library that is there, and passes by one whose file it does not find. Only glibc's loader
 * replaces $LIB, so that under this name only it finds the library. */
const char *okosu_prepare_preload(struct okosu_arena *arena, const char *library)
{
    return reaches_root(arena) ? okosu_arena_printf(arena, ROOT_BY_GLIBC "%s", library) : library;
}
