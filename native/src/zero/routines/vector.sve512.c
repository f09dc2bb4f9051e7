/* SPDX-License-Identifier: Apache-2.0 */
/* sve512: SVE's vectors where they are of 512 bits. */
#include "zero/sve.h"

OKOSU_ROUTINE(zero, 34, sve512) = {
    .about = {"sve512", OKOSU_CPU_NEON | OKOSU_CPU_SVE512,
              "64-byte stores; up to 512 bytes as neon"},
    .set = set,
};
