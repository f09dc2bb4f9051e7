/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes and questions that few programs have. */
#include <errno.h>
#include <pthread.h>

static int concurrency;

int pthread_getconcurrency(void)
{
    return concurrency;
}

int pthread_setconcurrency(int level)
{
    if (level < 0)
        return EINVAL;
    concurrency = level;
    return 0;
}
