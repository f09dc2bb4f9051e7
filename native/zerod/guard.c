/* SPDX-License-Identifier: Apache-2.0 */
/* guard: a client can remove pages from its file, and then the kernel may have no huge page to put
 * there. The SIGBUS that follows must not end the daemon. */
#include "guard.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>

static _Thread_local sigjmp_buf *volatile back;

static void on_bus_error(int signal_number)
{
    if (back)
        siglongjmp(*back, 1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

int zerod_guard_begin(void)
{
    struct sigaction action = {.sa_handler = on_bus_error};

    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, NULL) ? -errno : 0;
}

int zerod_guard(void (*do_it)(void *at, size_t bytes), void *at, size_t bytes)
{
    sigjmp_buf here;

    if (sigsetjmp(here, 1)) {
        back = NULL;
        return -EFAULT;
    }
    back = &here;
    do_it(at, bytes);
    back = NULL;
    return 0;
}
