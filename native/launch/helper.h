/* SPDX-License-Identifier: Apache-2.0 */
/* Helper: collapses the memory of a program that nothing can be preloaded into, from outside. */
#ifndef OKOSU_LAUNCH_HELPER_H
#define OKOSU_LAUNCH_HELPER_H

#include <okosu/cpulist.h>

/*
 * Start the helper for this process and whatever it execs; it ends with it. `cpus` is the mask that
 * the helper takes (its work is no load for the program's CPUs alone), `proof` where it writes its
 * evidence, or NULL. 0 or -errno. */
int okosu_helper_start(const struct okosu_cpuset *cpus, const char *proof);

#endif
