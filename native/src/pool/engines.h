/* SPDX-License-Identifier: Apache-2.0 */
/* engines: finds an engine, and proves it before it is used. */
#pragma once

#include <okosu/zero_pool.h>

#define OKOSU_PROOF_BYTES ((size_t)1 << 16)

/* The engine of this name, or (NULL) the first possible one. 0, -ENOENT, -ENOTSUP. */
int okosu_engine_find(const char *name, const struct okosu_zero_engine **found);
/* Let it clear memory filled with 0xa5, and check the result. 0; -EIO: a byte was not cleared; the
 * engine's own error; -ENOMEM. */
int okosu_engine_prove(const struct okosu_zero_engine *engine);
