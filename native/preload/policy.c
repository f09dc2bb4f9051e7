/* SPDX-License-Identifier: Apache-2.0 */
/* Budget, density and back-off (see policy.h). */
#include "policy.h"

#include "evidence.h"
#include "lock.h"
#include "sys.h"

#include <stdatomic.h>
#include <stdint.h>

static struct okosu_lock start_lock;
static atomic_bool started;
static atomic_bool forked;
static atomic_size_t backoff;
static size_t budget_chunks;
static bool refused; /* for the whole run, because the kernel's settings rule huge pages out */
static enum okosu_reason refusal;

/* Read at the first large block and not in the constructor: most processes of a build never
 * allocate one, and the files take longer to read than the rest of the constructor. */
void okosu_policy_begin(void)
{
    size_t bytes;

    if (okosu_config.tier == OKOSU_TIER_NONE ||
        atomic_load_explicit(&started, memory_order_acquire))
        return;
    okosu_lock_take(&start_lock);
    if (atomic_load(&started))
        goto out;
    switch (okosu_sys.thp_state()) {
    case OKOSU_THP_OK:
        break;
    case OKOSU_THP_NEVER:
        refused = true;
        refusal = OKOSU_WHY_THP_NEVER;
        break;
    case OKOSU_THP_DISABLED:
        refused = true;
        refusal = OKOSU_WHY_THP_DISABLED;
        break;
    case OKOSU_THP_ABSENT:
        refused = true;
        refusal = OKOSU_WHY_NO_KERNEL_THP;
        break;
    }
    bytes = okosu_config.budget_given ? okosu_config.budget : okosu_sys.available() / 2;
    budget_chunks = bytes / OKOSU_CHUNK;
    atomic_store_explicit(&started, true, memory_order_release);
out:
    okosu_lock_release(&start_lock);
}

size_t okosu_policy_dense(size_t bytes)
{
    size_t full = bytes / OKOSU_CHUNK, rest = bytes % OKOSU_CHUNK;

    return rest * 100 >= OKOSU_CHUNK * okosu_config.density ? full + 1 : full;
}

bool okosu_policy_hugetlb(void)
{
    if (okosu_config.tier != OKOSU_TIER_HUGETLB)
        return false;
    if (atomic_load_explicit(&forked, memory_order_relaxed)) {
        okosu_reason_add(OKOSU_WHY_HUGETLB_FORKED);
        return false;
    }
    return true;
}

/* Whether this try falls into the pause after a failure; counts the pause down. */
static bool is_backing_off(void)
{
    size_t left = atomic_load_explicit(&backoff, memory_order_relaxed);

    while (left) {
        if (atomic_compare_exchange_weak_explicit(&backoff, &left, left - 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    }
    return false;
}

static size_t take_from_budget(size_t chunks)
{
    size_t used = atomic_load_explicit(&okosu_counters.advised, memory_order_relaxed);
    size_t left, take;

    do {
        left = budget_chunks -
               (used / OKOSU_CHUNK < budget_chunks ? used / OKOSU_CHUNK : budget_chunks);
        take = chunks < left ? chunks : left;
    } while (!atomic_compare_exchange_weak_explicit(&okosu_counters.advised, &used,
                                                    used + take * OKOSU_CHUNK, memory_order_relaxed,
                                                    memory_order_relaxed));
    return take;
}

size_t okosu_policy_grant(size_t chunks, enum okosu_kind kind)
{
    size_t take;

    if (okosu_config.tier == OKOSU_TIER_NONE || chunks == 0)
        return 0;
    okosu_policy_begin();
    if (kind == OKOSU_KIND_THP && refused) {
        okosu_reason_add(refusal);
        return 0;
    }
    if (kind == OKOSU_KIND_THP && is_backing_off()) {
        okosu_reason_add(OKOSU_WHY_BACKOFF);
        return 0;
    }
    take = take_from_budget(chunks);
    if (take < chunks)
        okosu_reason_add(OKOSU_WHY_BUDGET);
    return take;
}

void okosu_policy_return(size_t chunks)
{
    atomic_fetch_sub_explicit(&okosu_counters.advised, chunks * OKOSU_CHUNK, memory_order_relaxed);
}

void okosu_policy_outcome(bool huge)
{
    if (huge) {
        okosu_count(&okosu_counters.huge_first_chunks, 1);
        return;
    }
    okosu_reason_add(OKOSU_WHY_SMALL_PAGES);
    atomic_store_explicit(&backoff, OKOSU_BACKOFF_TRIES, memory_order_relaxed);
}

void okosu_policy_forked(void)
{
    if (okosu_config.tier != OKOSU_TIER_HUGETLB)
        return;
    if (!atomic_exchange(&forked, true))
        okosu_reason_add(OKOSU_WHY_HUGETLB_FORKED);
}

void okosu_policy_prefork(void)
{
    okosu_lock_take(&start_lock);
}

void okosu_policy_postfork(void)
{
    okosu_lock_release(&start_lock);
}
