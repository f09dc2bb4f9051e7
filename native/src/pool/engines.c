/* SPDX-License-Identifier: Apache-2.0 */
/* engines: the table of ways to clear a pool's unit; the first one that is possible here is
 * used. */
#include "pool/engines.h"

#include "pool/backing.h"

#include "base/pages.h"

#include <okosu/zero.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

static bool always(void)
{
    return true;
}

/* With stores that bypass the caches, or with the variant that okosu_zero_page() chooses on this
 * CPU: the unit is not read soon, and the program's lines stay in the caches. */
static int clear_past_caches(void *at, size_t bytes)
{
    okosu_zero_page(at, bytes);
    return 0;
}

static int clear_by_memset(void *at, size_t bytes)
{
    memset(at, 0, bytes);
    return 0;
}

/* Pages are exchanged for fresh ones, which the kernel clears. Part of a huge page cannot be
 * exchanged. */
static int clear_by_kernel(void *at, size_t bytes)
{
    int rc = okosu_backing_drop(at, bytes);

    return rc ? rc : okosu_pages_populate(at, bytes);
}

static const struct okosu_zero_engine nt = {
    .name = "nt",
    .doc = "stores past the caches (or clzero) by a CPU that idles",
    .possible = always,
    .clear = clear_past_caches,
};
static const struct okosu_zero_engine set = {
    .name = "memset",
    .doc = "libc's memset by a CPU that idles",
    .possible = always,
    .clear = clear_by_memset,
};
static const struct okosu_zero_engine kernel = {
    .name = "kernel",
    .doc = "pages given back, and fresh ones had from the kernel",
    .possible = okosu_backing_can_populate,
    .clear = clear_by_kernel,
    .whole = true,
};

const struct okosu_zero_engine *const *okosu_zero_engines(void)
{
    static const struct okosu_zero_engine *const table[] = {&nt, &set, &kernel, NULL};

    return table;
}

int okosu_engine_find(const char *name, const struct okosu_zero_engine **found)
{
    for (const struct okosu_zero_engine *const *row = okosu_zero_engines(); *row; row++) {
        if (name && strcmp((*row)->name, name) != 0)
            continue;
        if ((*row)->possible()) {
            *found = *row;
            return 0;
        }
        if (name)
            return -ENOTSUP;
    }
    return -ENOENT;
}

int okosu_engine_prove(const struct okosu_zero_engine *engine)
{
    unsigned char *page = okosu_backing_map(OKOSU_PROOF_BYTES, OKOSU_PROOF_BYTES, false, 0);
    int rc;

    if (!page)
        return -ENOMEM;
    memset(page, 0xa5, OKOSU_PROOF_BYTES);
    rc = engine->clear(page, OKOSU_PROOF_BYTES);
    for (size_t i = 0; !rc && i < OKOSU_PROOF_BYTES; i++)
        if (page[i])
            rc = -EIO;
    okosu_backing_unmap(page, OKOSU_PROOF_BYTES);
    return rc;
}
