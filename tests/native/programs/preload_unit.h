/* SPDX-License-Identifier: Apache-2.0 */
/* The unit tests of the preload library's mechanism: each case runs in a process of its own,
 * because the library keeps its state in statics, and against a table of system calls that can
 * fail. */
#pragma once

#include "check.h"
#include "pattern.h"

#include "config.h"
#include "evidence.h"
#include "large.h"
#include "policy.h"
#include "sys.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the fake table does instead of the real call. */
struct fake {
    unsigned map_calls, map_fail_at; /* the call that fails, from 1; 0: none */
    int advise_error;                /* of MADV_HUGEPAGE */
    int populate_error;              /* of MADV_POPULATE_WRITE */
    int move_error;
    bool move_fails_on_many;  /* only for more than one chunk, as where mappings are several */
    unsigned move_fail_every; /* one in so many moves fails */
    bool mending_fails;       /* and so does the mmap after it */
    unsigned seed;
    bool small;        /* the kernel gives small pages */
    bool hugetlb_pool; /* MAP_HUGETLB succeeds (with ordinary memory) */
    bool misalign;     /* mmap without an address never returns a multiple of 2 MiB */
    enum okosu_thp_state thp;
    size_t available, address_limit;
    unsigned hugetlb_maps, moves, populates;
    size_t nohuge_bytes;
};

extern struct fake fake;

/* Puts the fakes into okosu_sys and sets the configuration to THP with a large budget. */
void fake_install(void);

unsigned random_below(unsigned *state, unsigned limit);

struct test_case {
    const char *name;
    void (*run)(void);
};

#define CASE(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }

/* Each begins with fake_install(), but for those of the parts. */
extern const struct test_case cases_runs[], cases_parts[], cases_large[], cases_small[];
