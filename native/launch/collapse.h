/* SPDX-License-Identifier: Apache-2.0 */
/* Collapse: one pass of the helper over the memory of a process, and the evidence of all passes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define OKOSU_COLLAPSE_KINDS 8

struct okosu_collapse {
    pid_t pid;
    int pidfd;
    unsigned density;   /* per cent of a chunk that must be resident before it is collapsed */
    uint64_t collapsed; /* chunks of 2 MiB that became huge */
    uint64_t sparse;    /* chunks that were left alone for their density, in the last pass */
    struct {
        int error;
        uint64_t count;
    } failed[OKOSU_COLLAPSE_KINDS];
    uint64_t *marks; /* chunk addresses with a mark in the low bits, an open hash table */
    size_t mark_room, mark_count;
    uint64_t
        next; /* address at which the next pass goes on, when a budget cut the last one short */
};

enum okosu_collapse_result {
    OKOSU_COLLAPSE_IDLE,  /* nothing left to do for now */
    OKOSU_COLLAPSE_MORE,  /* the time budget ended the pass */
    OKOSU_COLLAPSE_PAUSE, /* the kernel has no huge pages or locks to spare: wait */
    OKOSU_COLLAPSE_GONE   /* the process ended or may not be advised */
};

/* One pass of at most `budget_ns`. */
enum okosu_collapse_result okosu_collapse_pass(struct okosu_collapse *state, uint64_t budget_ns);
/* The evidence as one line of JSON. */
void okosu_collapse_report(const struct okosu_collapse *state, FILE *out);
void okosu_collapse_free(struct okosu_collapse *state);
