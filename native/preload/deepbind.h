/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that the program loads with RTLD_DEEPBIND (PHP's extensions, Julia's packages) find
 * libc's free before ours. libc's free of a block of ours ends the process.
 *
 * 1. The flag stays: without it such a library would find other symbols than it was loaded for. Only
 * its references that were bound to libc's malloc and related functions are bound to ours, when it
 * has been loaded. One that brings an allocator of its own keeps that.
 *
 * 2. Where that cannot be done, the blocks that are given out from then on are libc's.
 *
 * 3. Known limits: the constructors of such a library run before it is rebound, and what it finds by
 * dlsym(handle, …) stays libc's. */
#pragma once

#include "export.h"

#include <stdbool.h>

/* What follows is defined beside the hooks. */

/* Whether there are blocks of ours, or will be. */
OKOSU_LOCAL bool okosu_hooks_serve(void);
/* From now on the next allocator serves all requests; blocks that are ours stay so. */
OKOSU_LOCAL void okosu_hooks_stop(void);
