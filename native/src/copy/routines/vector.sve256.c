/* SPDX-License-Identifier: Apache-2.0 */
/* sve256: SVE's vectors where they are of 256 bits. */
#define OKOSU_COPY_NAME(x) x##_sve256
#include "copy/sve.h"

OKOSU_ROUTINE(copy, 62, sve256) = {
    .about = {.name = "sve256",
              .needs = OKOSU_CPU_NEON | OKOSU_CPU_SVE256,
              .doc = "32-byte moves, 128 bytes a turn; up to 128 bytes as neon"},
    .copy = okosu_copy_sve256,
    .move = okosu_copy_sve256,
};
