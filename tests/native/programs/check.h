/* SPDX-License-Identifier: Apache-2.0 */
/* A check that ends the program with status 1, and what many test programs measure memory in. Where
 * exit handlers must not run, CHECK_END is _exit. */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define PAGE ((size_t)4096)

#ifndef CHECK_END
#define CHECK_END exit
#endif
#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            CHECK_END(1);                                                                          \
        }                                                                                          \
    } while (0)
