/* SPDX-License-Identifier: Apache-2.0 */
/* Constructor, destructor and fork handlers (see init.h). */
#include "init.h"

#include "companion.h"
#include "config.h"
#include "environ.h"
#include "evidence.h"
#include "large.h"
#include "maps.h"
#include "next.h"
#include "pin.h"
#include "policy.h"
#include "small_maps.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

size_t okosu_large_from = OKOSU_LARGE_MIN;
size_t okosu_maps_from = OKOSU_CHUNK;

static atomic_bool begun;

static void set_switches(void)
{
    bool huge = okosu_config.tier != OKOSU_TIER_NONE;

    okosu_large_from = huge || okosu_config.retain ? OKOSU_LARGE_MIN : SIZE_MAX;
    okosu_maps_from = huge ? OKOSU_CHUNK : SIZE_MAX;
    if (okosu_config.tier == OKOSU_TIER_SMALL || okosu_config.tier == OKOSU_TIER_SHARED)
        okosu_maps_from = OKOSU_SMALL_MIN;
}

static void go_inert(void)
{
    okosu_config.tier = OKOSU_TIER_NONE;
    okosu_config.retain = false;
    set_switches();
}

static void before_fork(void)
{
    okosu_small_prefork();
    okosu_maps_prefork();
    okosu_large_prefork();
    okosu_policy_prefork();
}

static void after_fork(bool in_child)
{
    okosu_policy_postfork();
    okosu_large_postfork(in_child);
    okosu_maps_postfork();
    okosu_small_postfork(in_child);
}

static void after_fork_in_parent(void)
{
    after_fork(false);
    atomic_store_explicit(&okosu_counters.forked, true, memory_order_relaxed);
    okosu_policy_forked();
}

/* The child keeps and may free the blocks it inherited; only new blocks are no longer ours. */
static void after_fork_in_child(void)
{
    okosu_evidence_restart();
    after_fork(true);
    okosu_policy_forked();
    okosu_pin_stop();
    okosu_config.is_root = false;
    for (unsigned i = 0; i < okosu_companion_count; i++) {
        if (okosu_companions[i])
            okosu_companions[i]->forked(!okosu_config.children);
    }
    if (!okosu_config.children)
        go_inert();
}

/* Handlers that are registered first run last before a fork, and first after it. Ours must: it
 * takes the lock of malloc, and another library's handler may wait for a thread that allocates. */
static void handle_forks(void)
{
    static atomic_bool handled;
    extern void *__dso_handle __attribute__((visibility("hidden")));

    okosu_next_resolve();
    if (okosu_next.register_atfork && !atomic_exchange(&handled, true))
        okosu_next.register_atfork(before_fork, after_fork_in_parent, after_fork_in_child,
                                   __dso_handle);
}

/* What pthread_atfork calls, which each library has a copy of. Constructors of other libraries run
 * before ours and register handlers. */
int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
                      void *library);

OKOSU_EXPORT int __register_atfork(void (*before)(void), void (*in_parent)(void),
                                   void (*in_child)(void), void *library)
{
    handle_forks();
    if (!okosu_next.register_atfork)
        return ENOMEM;
    return okosu_next.register_atfork(before, in_parent, in_child, library);
}

void okosu_init(void)
{
    int saved = errno;

    if (atomic_load_explicit(&begun, memory_order_relaxed) || !environ ||
        atomic_exchange(&begun, true))
        return;
    okosu_next_resolve();
    if (getauxval(AT_SECURE)) {
        go_inert();
        return;
    }
    okosu_config_read(environ);
    okosu_evidence_own();
    okosu_evidence_at_signal();
    if (sysconf(_SC_PAGESIZE) != (long)OKOSU_PAGE) {
        okosu_reason_add(OKOSU_WHY_PAGE_SIZE);
        go_inert();
    }
    set_switches();
    for (unsigned i = 0; i < okosu_companion_count; i++) {
        if (okosu_companions[i] && okosu_companions[i]->begin)
            okosu_companions[i]->begin();
    }
    okosu_pin_start();
    if (okosu_config.is_root && !okosu_config.children)
        okosu_environ_clean(environ, okosu_companion_libraries());
    handle_forks();
    at_quick_exit(okosu_evidence_write);
    errno = saved;
}

void okosu_filtered(void)
{
    if (okosu_config.filtered)
        return;
    okosu_evidence_seal();
    okosu_pin_stop();
    if (okosu_large_from != SIZE_MAX) {
        okosu_large_begin();
        okosu_policy_begin();
    }
    for (unsigned i = 0; i < okosu_companion_count; i++) {
        if (okosu_companions[i] && okosu_companions[i]->filtered)
            okosu_companions[i]->filtered();
    }
    okosu_config.filtered = true;
}

__attribute__((constructor)) static void enter(void)
{
    okosu_init();
}

__attribute__((destructor)) static void leave(void)
{
    okosu_evidence_write();
}
