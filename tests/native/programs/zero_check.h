/* SPDX-License-Identifier: Apache-2.0 */
/* zero_check: what the checks of memset-like routines share with the routines that they must
 * refuse. */
#ifndef ZERO_CHECK_H
#define ZERO_CHECK_H

#include <stdbool.h>
#include <stddef.h>

typedef void *set_function(void *p, int byte, size_t n);

/* Routines that are wrong, each in one way, ended by a NULL name. */
struct broken {
    const char *name;
    set_function *set;
};
extern const struct broken broken_table[];

/* A routine under test. `any_byte` is false where it sets to 0 whatever it is asked for. */
struct subject {
    const char *name;
    set_function *set;
    bool any_byte;
};

/* Each returns whether the subject is right, and prints the first thing that is wrong. */
bool check_offsets(const struct subject *subject);
bool check_bytes(const struct subject *subject);
bool check_thresholds(const struct subject *subject);
bool check_guards(const struct subject *subject);

#endif
