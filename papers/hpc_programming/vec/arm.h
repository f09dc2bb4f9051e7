/* SPDX-License-Identifier: Apache-2.0 */
/* arm: what the variants of AArch64 share, whatever the type and the width (arm_type.h). */
#ifndef OKOSU_VEC_ARM_H
#define OKOSU_VEC_ARM_H

#include "vec/common.h"

/* Running sums are kept in this many registers: an addition takes four cycles, and two begin in
 * each. */
#define ARM_SUMS 8

enum arm_term { ARM_SUM, ARM_ABS, ARM_SQUARE, ARM_SCALED_SQUARE, ARM_PRODUCT };

#endif
