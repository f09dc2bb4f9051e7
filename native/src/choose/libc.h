/* SPDX-License-Identifier: Apache-2.0 */
/* libc: the C library's own routines, as rows of the tables name them. */
#pragma once

#include <stddef.h>

/* libokosu-copy.so defines memcpy and memset itself: there, before the first call that a row
 * serves, these become what stands behind its own. */
struct okosu_libc {
    void *(*copy)(void *dst, const void *src, size_t n);
    void *(*move)(void *dst, const void *src, size_t n);
    void *(*set)(void *p, int byte, size_t n);
};
extern struct okosu_libc okosu_libc;
