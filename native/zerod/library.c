/* SPDX-License-Identifier: Apache-2.0 */
/* library: loads a driver's library, and fails unless it has all the functions that are needed. */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *zerod_library_open(const char *file, const struct zerod_symbol *symbols, char *why,
                         size_t room)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        snprintf(why, room, "%s is not there: %s", file, dlerror());
        return NULL;
    }
    for (; symbols->name; symbols++) {
        void *symbol = dlsym(library, symbols->name);

        if (!symbol) {
            snprintf(why, room, "%s has no %s", file, symbols->name);
            dlclose(library);
            return NULL;
        }
        /* ISO C does not convert an object pointer to a function pointer. */
        memcpy(symbols->at, &symbol, sizeof(symbol));
    }
    return library;
}

void zerod_library_close(void *library)
{
    dlclose(library);
}
