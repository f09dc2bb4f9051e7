/* SPDX-License-Identifier: Apache-2.0 */
/* sve256: SVE's vectors where they are of 256 bits (Neoverse V1). */
#include "vec/sve.h"

OKOSU_ROUTINE(vec, 18, sve256) = {
    .about = {.name = "sve256",
              .needs = OKOSU_CPU_NEON | OKOSU_CPU_SVE256,
              .doc = "256-bit vectors, fused, ends by predicates; 8 sums of 4 or 8"},
    SVE_MEMBERS};
