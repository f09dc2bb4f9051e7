/* SPDX-License-Identifier: Apache-2.0 */
/* caches: how large a CPU's caches are. */
#pragma once

#include <stddef.h>

struct okosu_caches {
    size_t l1d, l2, l3; /* bytes; 0: there is none, or its size is not known */
};

/* The second-level cache of Zen 4 and Zen 5. Where AVX-512 is hidden it tells them from Zen 3, which has half as much. */
enum { OKOSU_L2_OF_ZEN_4 = 1 << 20 };

/* From /sys, which follows a container's or an emulator's view, else from CPUID, which tells of the
 * CPU that this runs on. A level of which neither tells is left 0. Allocates nothing and leaves
 * errno alone. A virtual machine may report the whole L3 of a socket of which it has a part, so l3
 * is an upper bound. */
struct okosu_caches okosu_caches_read(unsigned cpu);
