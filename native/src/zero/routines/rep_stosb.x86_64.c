/* SPDX-License-Identifier: Apache-2.0 */
/* rep-stosb: one string instruction; where ERMS says so its microcode takes lines without reading
 * them first. */
#include "zero/rows.h"

static void *set(void *p, int byte, size_t n)
{
    void *at = p;

    __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
    return p;
}

OKOSU_ROUTINE(zero, 20, rep_stosb) = {
    .about = {"rep-stosb", OKOSU_CPU_ERMS, "one string instruction for all n"},
    .set = set,
};
