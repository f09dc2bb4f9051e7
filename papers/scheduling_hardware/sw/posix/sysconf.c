/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"

enum { NO_LIMIT = -1 };

static const struct {
    int name;
    long value;
} values[] = {
    {_SC_CLK_TCK, CLOCKS_PER_SEC},
    {_SC_VERSION, _POSIX_VERSION},
    {_SC_PAGESIZE, 4096},
    {_SC_SEM_NSEMS_MAX, NO_LIMIT},
    {_SC_SEM_VALUE_MAX, SEM_VALUE_MAX},
    {_SC_THREAD_DESTRUCTOR_ITERATIONS, PTHREAD_DESTRUCTOR_ITERATIONS},
    {_SC_THREAD_KEYS_MAX, PTHREAD_KEYS_MAX},
    {_SC_THREAD_STACK_MIN, PTHREAD_STACK_MIN},
    {_SC_THREAD_THREADS_MAX, NO_LIMIT},
    {_SC_PRIORITY_SCHEDULING, _POSIX_PRIORITY_SCHEDULING},
    {_SC_SEMAPHORES, _POSIX_SEMAPHORES},
    {_SC_THREADS, _POSIX_THREADS},
    {_SC_THREAD_SAFE_FUNCTIONS, _POSIX_THREAD_SAFE_FUNCTIONS},
    {_SC_THREAD_ATTR_STACKADDR, _POSIX_THREAD_ATTR_STACKADDR},
    {_SC_THREAD_ATTR_STACKSIZE, _POSIX_THREAD_ATTR_STACKSIZE},
    {_SC_THREAD_PRIORITY_SCHEDULING, _POSIX_THREAD_PRIORITY_SCHEDULING},
    {_SC_THREAD_PRIO_INHERIT, _POSIX_THREAD_PRIO_INHERIT},
    {_SC_THREAD_PRIO_PROTECT, _POSIX_THREAD_PRIO_PROTECT},
    {_SC_THREAD_PROCESS_SHARED, _POSIX_THREAD_PROCESS_SHARED},
    {_SC_BARRIERS, _POSIX_BARRIERS},
    {_SC_CLOCK_SELECTION, _POSIX_CLOCK_SELECTION},
    {_SC_MONOTONIC_CLOCK, _POSIX_MONOTONIC_CLOCK},
    {_SC_READER_WRITER_LOCKS, _POSIX_READER_WRITER_LOCKS},
    {_SC_SPIN_LOCKS, _POSIX_SPIN_LOCKS},
    {_SC_TIMEOUTS, _POSIX_TIMEOUTS},
    /* Not there. */
    {_SC_MAPPED_FILES, NO_LIMIT},
    {_SC_CPUTIME, NO_LIMIT},
    {_SC_THREAD_CPUTIME, NO_LIMIT},
};

long sysconf(int name)
{
    if (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN)
        return (long)pe_count();
    for (size_t at = 0; at < sizeof(values) / sizeof(values[0]); at++)
        if (values[at].name == name)
            return values[at].value;
    errno = EINVAL;
    return -1;
}

long pathconf(const char *path, int name)
{
    (void)path;
    if (name == _PC_NAME_MAX)
        return NAME_MAX;
    if (name == _PC_PATH_MAX)
        return PATH_MAX;
    errno = EINVAL;
    return -1;
}
