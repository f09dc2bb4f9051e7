/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of zero-pool-check share. */
#pragma once

#include "block_check.h"

/* The states of units against a slow model; and by four threads, so many turns each. */
void zero_pool_check_units(uint64_t seed);
void zero_pool_check_contention(uint64_t turns);
/* On huge pages, whose number somebody lowers when it is asked to. */
void zero_pool_check_hugetlb(void);
/* Where a pool's memory comes from. */
void zero_pool_check_node(void);

/* Test builds of units.c call it between the look at a unit's state and the exchange that takes
 * it. */
void zero_pool_check_meet(void);
