/* SPDX-License-Identifier: Apache-2.0 */
/* library: loads a driver, and fails unless it has all functions that are wanted. */
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
        /* ISO C has no conversion from an object's address to a function's. */
        memcpy(symbols->at, &symbol, sizeof(symbol));
    }
    return library;
}

void zerod_library_close(void *library)
{
    dlclose(library);
}
