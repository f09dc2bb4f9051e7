/* SPDX-License-Identifier: Apache-2.0 */
/* prove: an engine is used only after it has cleared memory here and a CPU has checked the
 * result. */
#pragma once

#include "engine.h"

/* Open the engine and let it clear one of three units that are full of 0xa5, except its last page:
 * exactly that part must become zero. 0, and the name of the device in about[room]; or -errno, the
 * engine closed, and the reason there. `asked`: the user named this engine; `patience_ms`: how long
 * the proof may take. */
int zerod_prove(struct zerod_use *use, const struct zerod_engine *engine, bool asked,
                unsigned patience_ms, char *about, size_t room);
/* The engine of this name, or (NULL) the first one that passes its proof. Prints on stderr which
 * were passed over and why, if `verbose` or if the engine was named. 0 or -errno. */
int zerod_choose(struct zerod_use *use, const char *name, unsigned patience_ms, bool verbose);
/* Wait for a ticket; returns what poll() returned, or -ETIMEDOUT. */
int zerod_wait(const struct zerod_use *use, uint64_t ticket, unsigned patience_ms);
uint64_t zerod_now(void); /* ns */
