/* SPDX-License-Identifier: Apache-2.0 */
/* variant: what each row of okosu's tables of routines has in common. */
#ifndef OKOSU_VARIANT_H
#define OKOSU_VARIANT_H

#include <stdint.h>

/* The first member of a row of each area's table (vec, copy, zero). */
struct okosu_variant {
    const char *name; /* by which the variant can be forced: "ref", "avx2" */
    uint64_t needs;   /* OKOSU_CPU_... bits, all of which are required */
    const char *doc;  /* one line, for `okosu bench --list` */
};

/* What was wrong with the name or the profile of a choice, as the three parts of an okosu error. */
struct okosu_reason {
    char what[320], why[160], fix[160];
};

#endif
