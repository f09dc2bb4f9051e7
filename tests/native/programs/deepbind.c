/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a library with RTLD_DEEPBIND, whose malloc and free are then libc's or its own whatever is
 * preloaded, and hands blocks to it and back: deepbind FILE now|lazy|own [NAME]. A file NAME is
 * loaded in the same way before, along the RUNPATH of this program. */
#include "deepbind.h"
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static char *filled(char *p, size_t size)
{
    CHECK(p);
    memset(p, 'x', size);
    return p;
}

static void check(const char *p, size_t size)
{
    CHECK(p && p[0] == 'x' && p[size / 2] == 'x' && p[size - 1] == 'x');
}

/* What the one has allocated the other grows, shrinks and frees, and each frees its own. */
static void exchange(const struct deep *other, size_t size)
{
    char *p;

    other->take(filled(malloc(size), size));
    other->take_by_pointer(filled(malloc(size), size));
    free(filled(other->give(size), size));
    check(p = other->change(filled(malloc(size), size), 2 * size), size);
    free(p);
    check(p = realloc(filled(other->give(size), size), 2 * size), size);
    other->take(p);
    check(p = other->change(filled(malloc(size), size), 1000), 1000);
    free(p);
}

static void use_own(const struct deep *other, size_t size)
{
    char *p;

    check(p = other->change(filled(other->give(size), size), 2 * size), size);
    other->take(p);
    free(filled(malloc(size), size));
}

static const char *library;

static void *open_and_close(void *arg)
{
    for (int i = 0; i < 50; i++) {
        void *handle = dlopen(library, RTLD_DEEPBIND | RTLD_LAZY);
        const struct deep *other;

        CHECK(handle && (other = dlsym(handle, "deep")));
        other->take(malloc(4 * MIB));
        CHECK(dlclose(handle) == 0);
    }
    return arg;
}

/* One thread may use the library that another has just loaded, or is about to unload. */
static void open_together(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, open_and_close, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    int flags = RTLD_DEEPBIND | (strcmp(argv[2], "lazy") ? RTLD_NOW : RTLD_LAZY);
    char *before = filled(malloc(4 * MIB), 4 * MIB);
    const struct deep *other;
    void *handle;

    CHECK(!dlopen("/nowhere/no.so", flags));
    CHECK(strstr(dlerror(), "/nowhere/no.so"));
    CHECK(argc < 4 || dlopen(argv[3], flags));
    CHECK(handle = dlopen(argv[1], flags));
    CHECK(!dlerror());
    CHECK(other = dlsym(handle, "deep"));
    for (size_t size = 1000; size <= 40 * MIB && strcmp(argv[2], "own"); size *= 200)
        exchange(other, size);
    if (strcmp(argv[2], "own") == 0) {
        use_own(other, 1000);
        use_own(other, 4 * MIB);
        free(before);
    } else {
        other->take(before);
        CHECK(dlclose(handle) == 0);
        library = argv[1];
        open_together();
    }
    return 0;
}
