/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEADLINE_H
#define DEADLINE_H

#include <stdint.h>
#include <time.h>

/* The cycle at which a clock shows `time`, never NO_DEADLINE; EINVAL if `time` is invalid. */
int deadline_of(const struct timespec *time, uint64_t *cycle);

/* So many cycles as a time. */
struct timespec time_of_cycles(uint64_t cycles);

#endif
