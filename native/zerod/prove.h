/* SPDX-License-Identifier: Apache-2.0 */
/* prove: no engine serves before it has cleared memory here, under the CPU's eyes. */
#ifndef ZEROD_PROVE_H
#define ZEROD_PROVE_H

#include "engine.h"

/* Open the engine and let it clear one unit of three that are full of 0xa5, but for its last page:
 * all of that must be zero, and nothing else. 0, and about[room] says which device it is; or
 * -errno, the engine closed, and it says what was wrong. `asked`: for this one by name;
 * `patience_ms`: how long it may take. */
int zerod_prove(struct zerod_use *use, const struct zerod_engine *engine, bool asked,
                unsigned patience_ms, char *about, size_t room);
/* The first engine of this name, or (NULL) the first that proves itself. Says on stderr which were
 * passed over and why, when `verbose` or when it was asked for by name. 0 or -errno. */
int zerod_choose(struct zerod_use *use, const char *name, unsigned patience_ms, bool verbose);
/* Wait for a ticket: what poll() said, or -ETIMEDOUT. */
int zerod_wait(const struct zerod_use *use, uint64_t ticket, unsigned patience_ms);
uint64_t zerod_now(void); /* ns */

#endif
