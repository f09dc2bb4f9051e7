/* SPDX-License-Identifier: Apache-2.0 */
/* What other threads may ask of a thread: cancellation and signals. Programs that use neither are
 * not linked with this. */
#ifndef EVENTS_H
#define EVENTS_H

#include <signal.h>

#include "backend.h"

/* Bit 0 of what is pending, where no signal is. */
#define CANCELLATION 1u

/* Of each id; events_lock() guards what other threads may change. */
struct events {
    /* Whose it is: for any other thread with this id it is void. */
    unsigned handle;
    /* The handle, until the thread has ended; who joins it waits for that. 0: not known to be alive
     * (main, before it has called anything). */
    volatile unsigned alive;
    volatile unsigned pending;
    sigset_t mask;
    /* The signals that it waits for in sigwait(). */
    volatile sigset_t awaited;
    bool cancel_disabled, cancel_asynchronous;
    struct okosu_cleanup *cleanup;
    /* Odd while the thread waits at `word`, and may be woken by an event. */
    volatile unsigned waits;
    volatile unsigned *volatile word;
    /* Whom it joins. */
    volatile unsigned joins;
};

/* Signals for whichever thread takes them. */
extern volatile unsigned events_of_process;

/* Whether the program has ever handled a signal: then waits for locks have to end now and then. */
extern volatile bool events_have_handlers;

void events_lock(void);
void events_unlock(void);

/* The caller's. */
struct events *events_own(void);

/* Those of a thread that exists, with the lock held. */
struct events *events_of(unsigned handle);

/* All threads that are alive and have ever called anything here, by id; NULL where there is none. */
struct events *events_by_id(unsigned id);

/* Whether a thread exists. */
bool events_has_thread(unsigned handle);

/* Wake the thread, if it waits, for something has become pending. Without the lock. */
void events_interrupt(struct events *events, unsigned handle);

/* A thread that may get events begins with a mask, its creator's. */
void events_born(sigset_t mask) __attribute__((weak));
sigset_t events_mask(void) __attribute__((weak));

/* Wait, interruptibly, until a thread has ended, so that a join by the back end does not wait long;
 * EDEADLK: it waits for the caller. */
int events_await_end(unsigned handle) __attribute__((weak));

/* Wake a thread for the signals to the program (signals.c). */
void signals_pass_on(void) __attribute__((weak));

/* Handles one of the signals (signals.c); whether a wait has to end because of it. */
bool signals_handle(struct events *events, unsigned signals) __attribute__((weak));

#endif
