/* SPDX-License-Identifier: Apache-2.0 */
/* sve: the copies of one length of SVE's vectors (cpu/sve.h), made by including this with
 * OKOSU_COPY_NAME. Up to four vectors, which are 128 bytes at least, NEON's copy serves. Not timed on
 * any machine, and chosen by name or by a profile alone. */
#include "cpu/sve.h"

#define OKOSU_COPY_WIDTH (SVE_BITS / 8)
#include "copy/ends.h"

void *OKOSU_COPY_NAME(okosu_copy)(void *to, const void *from, size_t n)
{
    if (n <= 4 * W || !okosu_sve_as_compiled())
        return okosu_copy_neon(to, from, n);
    if (n <= 8 * W)
        return ends4(to, from, n);
    return large(to, from, n);
}
