/* SPDX-License-Identifier: Apache-2.0 */
/* lately: what the guess reads. */
#include "copy/lately.h"

#include "choose/caches.h"

_Thread_local uintptr_t okosu_copy_lately[OKOSU_COPY_LATELY]
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

size_t okosu_copy_lately_most(void)
{
    static size_t most;
    size_t found = __atomic_load_n(&most, __ATOMIC_RELAXED);

    if (!found) {
        size_t l1d = okosu_caches_read(0).l1d;

        found = (l1d ? l1d : OKOSU_COPY_L1D_AT_LEAST) / 2;
        __atomic_store_n(&most, found, __ATOMIC_RELAXED);
    }
    return found;
}
