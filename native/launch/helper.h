/* SPDX-License-Identifier: Apache-2.0 */
/* Helper: collapses the memory of a program that nothing can be preloaded into, from outside. */
#pragma once

#include <okosu/cpulist.h>

/* Start the helper for this process and the program that it becomes by exec; the helper ends with
 * it. `cpus` is the mask that the helper takes (so that its work does not burden the program's CPUs
 * alone), `proof` the file for its evidence, or NULL. 0 or -errno. */
int okosu_helper_start(const struct okosu_cpuset *cpus, const char *proof);
