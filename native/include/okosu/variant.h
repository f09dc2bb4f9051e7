/* SPDX-License-Identifier: Apache-2.0 */
/* variant: what every table of routines in okosu says of each of its rows. */
#ifndef OKOSU_VARIANT_H
#define OKOSU_VARIANT_H

#include <stdint.h>

/* The first member of a row of each area's table (vec, copy, zero). */
struct okosu_variant {
    const char *name; /* by which it can be forced: "ref", "avx2" */
    uint64_t needs;   /* OKOSU_CPU_... bits that must all be there */
    const char *doc;  /* one line, for `okosu bench --list` */
};

/* What was wrong with the name or the profile of a choice, as the three parts of an okosu error. */
struct okosu_reason {
    char what[320], why[160], fix[160];
};

#endif
