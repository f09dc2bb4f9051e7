/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the library in a process, and the switches that the hooks read.
 *
 * 1. Until the environment has been read the switches send large requests to the slow path, which
 *    reads it; so constructors of other libraries, which run before ours, are served too.
 * 2. Without a lever variable, in a setuid program, and in a child with OKOSU_CHILDREN=0 both
 * switches are SIZE_MAX: the hooks forward everything. */
#pragma once

#include "export.h"

#include <stddef.h>

/* The least size that is served by large.c, and the least length by maps.c. */
extern OKOSU_LOCAL size_t okosu_large_from;
extern OKOSU_LOCAL size_t okosu_maps_from;

/* Reads the environment if that has not been done and can be. */
void okosu_init(void);

/* The program is about to have the kernel filter its system calls, and may be ended at one that it
 * would not make itself. What is else done at the first block or at the end is done now. */
void okosu_filtered(void);
