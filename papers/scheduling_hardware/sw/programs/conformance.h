/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

void check(bool holds, const char *what);

/* The absolute time that lies so far ahead. */
struct timespec soon(long microseconds);
bool has_passed(const struct timespec *time);

/* Which groups of checks there are: conformance_*.c or posix_*.c says so. */
extern void (*const groups[])(void);
extern const unsigned groups_count;

void check_threads(void);
void check_attributes(void);
void check_mutexes(void);
void check_conditions(void);
void check_rwlocks(void);
void check_barriers(void);
void check_semaphores(void);
void check_keys(void);
void check_scheduling(void);

void check_cancellation(void);
void check_signals(void);
void check_robust(void);
void check_protocols(void);
void check_spinlocks(void);
void check_named_semaphores(void);
void check_kinds(void);

#endif
