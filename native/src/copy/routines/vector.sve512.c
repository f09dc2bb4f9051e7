/* SPDX-License-Identifier: Apache-2.0 */
/* sve512: SVE's vectors where they are of 512 bits. */
#define OKOSU_COPY_NAME(x) x##_sve512
#include "copy/sve.h"

OKOSU_ROUTINE(copy, 64, sve512) = {
    .about = {.name = "sve512",
              .needs = OKOSU_CPU_NEON | OKOSU_CPU_SVE512,
              .doc = "64-byte moves, 256 bytes a turn; up to 256 bytes as neon"},
    .copy = okosu_copy_sve512,
    .move = okosu_copy_sve512,
};
