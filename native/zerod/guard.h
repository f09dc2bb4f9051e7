/* SPDX-License-Identifier: Apache-2.0 */
/* guard: touching memory of a file in which somebody else may have punched a hole. */
#ifndef ZEROD_GUARD_H
#define ZEROD_GUARD_H

#include <stddef.h>

/* Catch SIGBUS from now on. 0 or -errno. */
int zerod_guard_begin(void);
/* do_it(at, bytes). -EFAULT: the kernel had no page for some of it, and how much was done is not
 * known. Else 0. */
int zerod_guard(void (*do_it)(void *at, size_t bytes), void *at, size_t bytes);

#endif
