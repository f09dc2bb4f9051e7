/* SPDX-License-Identifier: Apache-2.0 */
/* Peers: the files NAME.peer by which `make peers` describes a library: lines "keyword value". */
#ifndef OKOSU_BENCH_PEERS_DESCRIPTION_H
#define OKOSU_BENCH_PEERS_DESCRIPTION_H

#include <stddef.h>

#define PEERS_VARIABLES_LIMIT 16
#define PEERS_NEEDS_LIMIT 8

/* A description; its texts point into `text`, which is the caller's to free, whatever was wrong. */
struct peers_description {
    char *text;
    const char *library, *version, *config, *threads, *call, *symbols;
    const char *report, *report_blis, *report_map;
    const char *kind;                 /* NULL: "peer" */
    const char *multiple, *alignment; /* decimal digits, at most 4; NULL: any */
    const char *needs[PEERS_NEEDS_LIMIT];
    size_t need_count;
    char *variables[PEERS_VARIABLES_LIMIT];
    size_t variable_count;
};

/* Read the file, or a text that was allocated, which is then the description's. 0, or -EINVAL with
 * the reason in why. */
int peers_description_read(struct peers_description *about, const char *path, char *why,
                           size_t size);
int peers_description_parse(struct peers_description *about, char *text, char *why, size_t size);

#endif
