/* SPDX-License-Identifier: Apache-2.0 */
/* What threads_legal.c and threads_left.c share: threads, and a main() that runs the case which
 * argv[1] names; with another word it lists them, and ends with status 2. */
#pragma once

#define CHECK_END _exit
#include "check.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

typedef void *routine(void *);

static inline pthread_t start(routine *run, void *arg)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, run, arg) == 0);
    return thread;
}

static inline void *join(pthread_t thread)
{
    void *result = NULL;

    CHECK(pthread_join(thread, &result) == 0);
    return result;
}

static inline void *same(void *arg)
{
    return arg;
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static inline void *passes_gate(void *arg)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return arg;
}

struct named_case {
    const char *name;
    void (*run)(void);
};

/* Ends with a row without a name. */
static inline int run_case(const struct named_case *cases, const char *name)
{
    for (; cases->name; cases++) {
        if (name && !strcmp(name, cases->name)) {
            cases->run();
            return 0;
        }
        puts(cases->name);
    }
    return 2;
}
