/* SPDX-License-Identifier: Apache-2.0 */
/* sve512: SVE's vectors where they are of 512 bits (A64FX). */
#include "vec/sve.h"

OKOSU_ROUTINE(vec, 16, sve512) = {
    .about = {.name = "sve512",
              .needs = OKOSU_CPU_NEON | OKOSU_CPU_SVE512,
              .doc = "512-bit vectors, fused, ends by predicates; 8 sums of 8 or 16"},
    SVE_MEMBERS};
