/* SPDX-License-Identifier: Apache-2.0 */
/* sve256: SVE's vectors where they are of 256 bits. */
#include "zero/sve.h"

OKOSU_ROUTINE(zero, 32, sve256) = {
    .about = {"sve256", OKOSU_CPU_NEON | OKOSU_CPU_SVE256,
              "32-byte stores; up to 256 bytes as neon"},
    .set = set,
};
