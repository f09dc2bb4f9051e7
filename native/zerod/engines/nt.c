/* SPDX-License-Identifier: Apache-2.0 */
/* nt: the daemon's own thread of lowest priority clears with stores that bypass the caches. */
#include "engine.h"
#include "guard.h"

#include <okosu/zero.h>

static int open_nt(void **state, bool asked, char *about, size_t room)
{
    *state = NULL;
    *about = '\0';
    return 0;
}

static int submit(void *state, const struct zerod_range *range, uint64_t *ticket)
{
    *ticket = 0;
    return zerod_guard(okosu_zero_page, range->at, range->bytes);
}

/* The clearing ended before submit returned. */
static int poll_nt(void *state, uint64_t ticket)
{
    return 1;
}

static void close_nt(void *state)
{
}

const struct zerod_engine zerod_engine_nt = {
    .name = "nt",
    .doc = "stores past the caches (or clzero) by a CPU that idles (SCHED_IDLE)",
    .depth = 1,
    .open = open_nt,
    .submit = submit,
    .poll = poll_nt,
    .close = close_nt,
};
