/* SPDX-License-Identifier: Apache-2.0 */
/* guard: touches memory of a file in which a client may have punched a hole. */
#pragma once

#include <stddef.h>

/* From now on, handle SIGBUS. 0 or -errno. */
int zerod_guard_begin(void);
/* Calls do_it(at, bytes). 0; -EFAULT: the kernel had no page for a part of it, and how much was
 * done is unknown. */
int zerod_guard(void (*do_it)(void *at, size_t bytes), void *at, size_t bytes);
