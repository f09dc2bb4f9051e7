/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WAITING_H
#define WAITING_H

#include "scheduler.h"

/* Take a thread that waits at a word out of its lists. */
void waiting_remove(struct thread *thread);

#endif
