/* SPDX-License-Identifier: Apache-2.0 */
/* library: the functions of a driver, looked up by name when the daemon runs, so that building
 * needs no driver. */
#pragma once

#include <stddef.h>

/* A function that is needed, and where its address is stored. */
struct zerod_symbol {
    const char *name;
    void *at; /* of a pointer to a function */
};

/* Load the library. NULL, and the reason as a sentence in why[room]. `symbols` ends with a NULL
 * name; the library must have all of them. */
void *zerod_library_open(const char *file, const struct zerod_symbol *symbols, char *why,
                         size_t room);
void zerod_library_close(void *library);
