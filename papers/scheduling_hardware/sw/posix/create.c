/* SPDX-License-Identifier: Apache-2.0 */
/* Creation in programs with signals, cancellation or priorities: what thread.c spares others. */
#include <stdlib.h>

#include "events.h"
#include "scheduling.h"

PART(create);

/* What a thread begins with if it may get events. */
struct birth {
    thread_entry entry;
    void *argument;
    sigset_t mask;
};

static void *be_born(void *data)
{
    struct birth birth = *(struct birth *)data;

    free(data);
    events_born(birth.mask);
    pthread_exit(birth.entry(birth.argument));
}

/* With NULL, or without PTHREAD_EXPLICIT_SCHED, a thread has its creator's policy and priority. */
IN_CREATE static int create(pthread_t *thread, const pthread_attr_t *attr, thread_entry entry,
                            void *argument)
{
    pthread_attr_t inherited;

    if (attr == NULL || !attr->explicit_scheduling) {
        unsigned own = scheduling_noted(thread_self());

        if (own != 0) {
            if (attr == NULL)
                pthread_attr_init(&inherited);
            else
                inherited = *attr;
            inherited.explicit_scheduling = true;
            inherited.policy = (int)(own >> 8);
            inherited.priority = (int)(own & 0xff);
            attr = &inherited;
        }
    }
    return thread_create_plain(thread, attr, entry, argument);
}

static __attribute__((noinline)) int create_slowly(pthread_t *thread, const pthread_attr_t *attr,
                                                   thread_entry entry, void *argument)
{
    struct birth *birth;
    int error;

    if (events_born == NULL)
        return create(thread, attr, entry, argument);
    birth = malloc(sizeof(*birth));
    if (birth == NULL)
        return EAGAIN;
    *birth = (struct birth){entry, argument, events_mask()};
    error = create(thread, attr, be_born, birth);
    if (error != 0)
        free(birth);
    return error;
}

IN_CREATE int pthread_create(pthread_t *thread, const pthread_attr_t *attr, thread_entry entry,
                             void *argument)
{
    if (events_born == NULL) {
        /* Nothing is inherited. */
        if (attr == NULL && thread_locals()->scheduling == 0)
            return thread_create(thread, entry, argument, 0);
        if (attr != NULL && attr->explicit_scheduling)
            return thread_create_plain(thread, attr, entry, argument);
    }
    return create_slowly(thread, attr, entry, argument);
}
