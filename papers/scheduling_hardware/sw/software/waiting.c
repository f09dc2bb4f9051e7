/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait at a word of memory: lists by its address, which different words may share, and
 * one by deadline. */
#include "waiting.h"

enum { PLACES = 64 };

static struct thread_list places[PLACES];

ALWAYS_INLINE struct thread_list *place_of(const volatile unsigned *word)
{
    return &places[((uintptr_t)word >> 2) % PLACES];
}

static IN_LOCK void remove_timed(struct thread *thread)
{
    struct thread **link = &scheduler_timed;

    while (*link != thread)
        link = &(*link)->next_timed;
    *link = thread->next_timed;
}

/* Remove the thread behind `before` (NULL: the first) from the list. */
static IN_LOCK void unlink(struct thread_list *list, struct thread *before, struct thread *thread)
{
    if (before == NULL)
        list->first = thread->next;
    else
        before->next = thread->next;
    if (list->last == thread)
        list->last = before;
    if (thread->deadline != NO_DEADLINE)
        remove_timed(thread);
}

IN_LOCK void waiting_remove(struct thread *thread)
{
    struct thread_list *list = place_of(thread->word);
    struct thread *before = NULL;

    for (struct thread *at = list->first; at != thread; at = at->next)
        before = at;
    unlink(list, before, thread);
}

/* The first thread that waits at the word, or NULL. */
static IN_LOCK struct thread *take_waiter(const volatile unsigned *word)
{
    struct thread_list *list = place_of(word);
    struct thread *before = NULL;

    for (struct thread *at = list->first; at != NULL; before = at, at = at->next) {
        if (at->word == word) {
            unlink(list, before, at);
            return at;
        }
    }
    return NULL;
}

static IN_LOCK int block_at(volatile unsigned *word, uint64_t deadline)
{
    struct thread *self = thread_current();

    self->word = word;
    self->deadline = deadline;
    self->error = 0;
    list_append(place_of(word), self);
    if (deadline != NO_DEADLINE) {
        struct thread **link = &scheduler_timed;

        while (*link != NULL && (*link)->deadline <= deadline)
            link = &(*link)->next_timed;
        self->next_timed = *link;
        *link = self;
    }
    scheduler_run_next(self);
    return self->error;
}

IN_LOCK int word_wait(volatile unsigned *word, unsigned expected, uint64_t deadline)
{
    scheduler_lock();
    if (*word != expected) {
        scheduler_unlock();
        return EAGAIN;
    }
    return block_at(word, deadline);
}

static IN_LOCK void wake(volatile unsigned *word, unsigned value, bool all)
{
    struct thread *thread;

    scheduler_lock();
    *word = value;
    while ((thread = take_waiter(word)) != NULL) {
        scheduler_make_ready(thread);
        if (!all)
            break;
    }
    scheduler_unlock();
}

IN_LOCK void word_wake_one(volatile unsigned *word, unsigned value)
{
    wake(word, value, false);
}

IN_LOCK void word_wake_all(volatile unsigned *word, unsigned value)
{
    wake(word, value, true);
}

IN_LOCK void word_wake(volatile unsigned *word)
{
    struct thread *thread;

    scheduler_lock();
    while ((thread = take_waiter(word)) != NULL)
        scheduler_make_ready(thread);
    scheduler_unlock();
}

IN_LOCK int lock_wait(struct lock *lock, uint64_t deadline)
{
    int error;

    scheduler_lock();
    lock->waiters++;
    if (lock_try(lock)) {
        lock->waiters--;
        scheduler_unlock();
        return 0;
    }
    error = block_at(&lock->word, deadline);
    if (error != 0) {
        scheduler_lock();
        lock->waiters--;
        scheduler_unlock();
    }
    return error;
}

/* The thread that has waited longest gets the lock, unless another one takes it first. */
IN_LOCK void lock_hand_over(struct lock *lock)
{
    scheduler_lock();
    if (lock->waiters != 0 && lock_try(lock)) {
        struct thread *thread = take_waiter(&lock->word);

        if (thread != NULL) {
            lock->waiters--;
            scheduler_make_ready(thread);
        } else {
            /* These waiters' deadlines have passed, but they have not left the list yet. */
            lock->word = 0;
        }
    }
    scheduler_unlock();
}

IN_LOCK bool barrier_arrive(pthread_barrier_t *barrier)
{
    struct thread *self = thread_current();
    struct thread *others;

    scheduler_lock();
    if (++barrier->arrived < barrier->count) {
        self->next = (struct thread *)barrier->first;
        barrier->first = (struct waiter *)self;
        scheduler_run_next(self);
        return false;
    }
    others = (struct thread *)barrier->first;
    barrier->arrived = 0;
    barrier->first = NULL;
    while (others != NULL) {
        struct thread *thread = others;

        others = thread->next;
        scheduler_make_ready(thread);
    }
    scheduler_unlock();
    return true;
}
