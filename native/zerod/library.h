/* SPDX-License-Identifier: Apache-2.0 */
/* library: a driver's functions, had by name when the daemon runs: no build needs the driver. */
#ifndef ZEROD_LIBRARY_H
#define ZEROD_LIBRARY_H

#include <stddef.h>

/* A function that is wanted, and where its address goes. */
struct zerod_symbol {
    const char *name;
    void *at; /* of a pointer to a function */
};

/* Load it. NULL: a sentence in why[room]. `symbols` ends with a NULL name; all must be there. */
void *zerod_library_open(const char *file, const struct zerod_symbol *symbols, char *why,
                         size_t room);
void zerod_library_close(void *library);

#endif
