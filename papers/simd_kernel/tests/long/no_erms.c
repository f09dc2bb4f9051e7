// SPDX-License-Identifier: Apache-2.0
// Loaded before User-Mode Linux: a host whose /proc/cpuinfo is the file that OKOSU_CPUINFO names.
// The kernel has C functions of its own, so none is called here but those that are looked up.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

extern char **environ;

static int begins(const char *text, const char *with)
{
    while (*with)
        if (*text++ != *with++)
            return 0;
    return 1;
}

static const char *instead(const char *path)
{
    static const char name[] = "OKOSU_CPUINFO=";

    if (!begins(path, "/proc/cpuinfo"))
        return path;
    for (char **word = environ; *word; word++)
        if (begins(*word, name))
            return *word + sizeof name - 1;
    return path;
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen");

    return next(instead(path), mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, "fopen64");

    return next(instead(path), mode);
}
