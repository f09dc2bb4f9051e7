/* SPDX-License-Identifier: Apache-2.0 */
/* engines: finding one, and its proof before it serves. */
#ifndef OKOSU_POOL_ENGINES_H
#define OKOSU_POOL_ENGINES_H

#include <okosu/zero_pool.h>

#define OKOSU_PROOF_BYTES ((size_t)1 << 16)

/* The engine of this name, or (NULL) the first possible one. 0, -ENOENT, -ENOTSUP. */
int okosu_engine_find(const char *name, const struct okosu_zero_engine **found);
/* Let it clear memory that is full of 0xa5, and look. 0; -EIO: a byte is left; its own error;
 * -ENOMEM. */
int okosu_engine_prove(const struct okosu_zero_engine *engine);

#endif
