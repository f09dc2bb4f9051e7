/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what is pending for a thread, and the waits that it ends.
 *
 * A thread announces a wait (waits becomes odd), looks at what is pending, and then waits at the
 * word. Who makes something pending wakes all that wait at that word, again and again until the
 * thread has left this wait: the first time may fall between the look and the wait. Whoever else is
 * woken by that looks again and goes on waiting. */
#include "events.h"

#include "scheduling.h"

NEEDS(create);
NEEDS(join);
NEEDS(locks);

enum { THREADS = 256, FIRST_NAP = 64, LONGEST_NAP = 4096 };
enum { FIRST_SLICE = 4000, LONGEST_SLICE = 64000 };

static struct lock lock;
static struct events all[THREADS];
volatile unsigned events_of_process;
volatile bool events_have_handlers;

void events_lock(void)
{
    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
}

void events_unlock(void)
{
    lock_release(&lock);
}

struct events *events_of(unsigned handle)
{
    struct events *events = &all[handle % THREADS];

    if (events->handle != handle)
        *events = (struct events){.handle = handle};
    return events;
}

struct events *events_own(void)
{
    unsigned self = thread_self();
    struct events *events = &all[self % THREADS];

    if (unlikely(events->handle != self || events->alive == 0)) {
        events_lock();
        events_of(self)->alive = self;
        events_unlock();
        thread_locals()->used = 1;
    }
    return events;
}

struct events *events_by_id(unsigned id)
{
    return id < THREADS && all[id].alive != 0 ? &all[id] : NULL;
}

bool events_has_thread(unsigned handle)
{
    return handle != 0 && handle <= UINT16_MAX && scheduling_apply(handle) == 0;
}

static bool is_cancelled(const struct events *events, bool is_point)
{
    return (events->pending & CANCELLATION) != 0 && !events->cancel_disabled &&
           (is_point || events->cancel_asynchronous);
}

static unsigned signals_of(const struct events *events)
{
    return (events->pending | events_of_process) & ~events->mask & ~CANCELLATION;
}

static bool must_act(const struct events *events, bool is_point)
{
    return is_cancelled(events, is_point) || signals_of(events) != 0 ||
           ((events->pending | events_of_process) & events->awaited) != 0;
}

int events_wait(volatile unsigned *word, unsigned expected, uint64_t deadline, bool is_point)
{
    struct events *events = events_own();
    int error = EINTR;

    events->word = word;
    events->waits++;
    if (!must_act(events, is_point)) {
        error = word_wait(word, expected, deadline);
        if (must_act(events, is_point))
            error = EINTR;
    }
    events->waits++;
    return error;
}

/* A lock is waited for in slices, at whose ends events are looked at: the hardware hands a lock over,
 * and one who is woken by anything else would not know that it has not got it. Where nothing can
 * come there are no slices. */
int events_lock_wait(struct lock *lock, uint64_t deadline)
{
    struct events *events = events_own();
    unsigned slice = FIRST_SLICE;

    if (!events_have_handlers && !events->cancel_asynchronous)
        return lock_wait(lock, deadline);
    for (;;) {
        uint64_t end = cycle_now() + slice;
        bool is_last = deadline != NO_DEADLINE && deadline <= end;
        int error = lock_wait(lock, is_last ? deadline : end);

        if (error != ETIMEDOUT || is_last)
            return error;
        events_act(false);
        if (slice < LONGEST_SLICE)
            slice *= 2;
    }
}

/* A barrier whose threads can be woken: how many have come, and a number that changes when all
 * have. */
bool events_barrier(pthread_barrier_t *barrier)
{
    volatile unsigned *sequence = (volatile unsigned *)&barrier->first;
    unsigned before;
    bool is_last;

    events_lock();
    before = *sequence;
    is_last = ++barrier->arrived == barrier->count;
    if (is_last)
        barrier->arrived = 0;
    events_unlock();
    if (is_last) {
        word_wake_all(sequence, before + 1);
        return true;
    }
    while (*sequence == before) {
        if (events_wait(sequence, before, NO_DEADLINE, false) == EAGAIN && *sequence == before)
            thread_yield();
        events_act(false);
    }
    return false;
}

void events_interrupt(struct events *events, unsigned handle)
{
    unsigned waits = events->waits, span = FIRST_NAP;
    volatile unsigned nap = 0;

    while ((waits & 1) != 0 && events->handle == handle && events->waits == waits) {
        word_wake(events->word);
        if (word_wait(&nap, 0, cycle_now() + span) == EAGAIN)
            thread_yield();
        if (span < LONGEST_NAP)
            span *= 2;
    }
}

bool events_act(bool is_point)
{
    struct events *events = events_own();
    bool interrupted = false;
    unsigned signals;

    while ((signals = signals_of(events)) != 0 && signals_handle != NULL)
        interrupted |= signals_handle(events, signals);
    if (is_cancelled(events, is_point))
        pthread_exit(PTHREAD_CANCELED);
    return interrupted;
}

void events_clean(void)
{
    struct events *events = events_own();

    /* Signals that came while it computed. */
    events->cancel_disabled = true;
    events_act(false);
    while (events->cleanup != NULL) {
        struct okosu_cleanup *cleanup = events->cleanup;

        events->cleanup = cleanup->next;
        cleanup->routine(cleanup->argument);
    }
}

void events_end(void)
{
    struct events *events = events_own();

    events_lock();
    events->pending = 0;
    events->mask = ~0ul;
    events_unlock();
    word_wake_all(&events->alive, 0);
    if (events_of_process != 0 && signals_pass_on != NULL)
        signals_pass_on();
}

void events_born(sigset_t mask)
{
    events_own()->mask = mask;
}

sigset_t events_mask(void)
{
    return events_own()->mask;
}

int events_await_end(unsigned handle)
{
    struct events *events = events_own(), *other = &all[handle % THREADS];
    int error = 0;

    act_at_point();
    if (other == events)
        return 0;
    events->joins = handle;
    while (handle != 0 && other->alive == handle && error == 0) {
        if (other->joins == events->handle)
            error = EDEADLK;
        else if (events_wait(&other->alive, handle, NO_DEADLINE, true) == EAGAIN)
            thread_yield();
        act_at_point();
    }
    events->joins = 0;
    return error;
}
