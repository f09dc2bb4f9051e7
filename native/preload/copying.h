/* SPDX-License-Identifier: Apache-2.0 */
/* What libokosu-copy.so offers libokosu-preload.so, which tells it when a process begins, forks and
 * ends. Weak, for either may be loaded alone: without the other there is no evidence.
 */
#pragma once

#include "export.h"

#include <stdbool.h>

#define OKOSU_WEAK OKOSU_EXPORT __attribute__((weak))

/* Make the choice and route the calls; does nothing the second time. Reads environ, which must be
 * there. Counts from here on where OKOSU_PROOF is set. */
OKOSU_WEAK void okosu_copying_begin(void);
/* In the child of a fork: count from nothing; inert: hand the calls to libc from now on. */
OKOSU_WEAK void okosu_copying_forked(bool inert);
/* Append the line of evidence to the file. Async-signal-safe. */
OKOSU_WEAK void okosu_copying_evidence(const char *proof);
