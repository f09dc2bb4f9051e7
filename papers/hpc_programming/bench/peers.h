/* SPDX-License-Identifier: Apache-2.0 */
/* Peers: libraries to compare with, loaded from directories such as `make peers` fills. */
#ifndef OKOSU_BENCH_PEERS_H
#define OKOSU_BENCH_PEERS_H

#include "harness.h"

/*
 * DIR/NAME.peer describes the peer NAME in lines "KEYWORD VALUE":
 *   library FILE     what to load, from DIR; each peer's symbols are its own (RTLD_LOCAL)
 *   needs FILE       a library to load before it (may be repeated)
 *   call HOW         cblas32 or cblas64 (CBLAS, with 32 or 64 bits an integer), or plain (as
 *                    okosu/vec.h has it)
 *   symbols PATTERN  how its routines are named: %s stands for "ddot"
 *   version TEXT     what it is; shown as `library`
 *   config TEXT      how it was built
 *   env NAME=VALUE   set while it is loaded and checked (may be repeated)
 *   threads SYMBOL   void SYMBOL(int): called with 1
 *   report SYMBOL    char *SYMBOL(void): which routines it chose
 *   report-blis ID STRING   the same for BLIS: STRING(ID())
 *   report-map REGEX        the same from the names of the files that it mapped
 *   kind KIND        of its rows: peer (the default) or paper
 *   multiple N       its routines take lengths that are multiples of N alone, and not 0
 *   alignment N      and arrays at multiples of N bytes
 */
enum peer_call { PEER_PLAIN, PEER_CBLAS32, PEER_CBLAS64 };

struct peer {
    char *name, *version, *kind;
    char *config; /* what is known of it, the routines that it chose included */
    enum peer_call call;
    char *symbols;
    size_t multiple, alignment; /* 0: any */
    void *handle;
    char *report, *report_id, *report_string, *report_map; /* as named above, or NULL */
};

/* Whether the peer's results are right: 0, or -EINVAL with the reason in why. */
typedef int peers_check(const struct peer *peer, char *why, size_t size);

/*
 * Load every peer of each directory (NULL-ended) in the order of their names, and keep those that
 * pass the check. The others, and known peers that are not there, are printed as absent. *peers is for
 * peers_free(). Returns how many there are, or -errno after a message.
 */
long peers_load(struct bench *bench, const char *const *directories, peers_check *check,
                struct peer **peers);
void peers_free(struct peer *peers, long count);
typedef void peers_function(void);
/* Its routine ("ddot"), to be cast to what it is; NULL: it has none. */
peers_function *peers_symbol(const struct peer *peer, const char *routine);

#endif
