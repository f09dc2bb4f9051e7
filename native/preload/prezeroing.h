/* SPDX-License-Identifier: Apache-2.0 */
/* What libokosu-prezero.so offers libokosu-preload.so, which tells it when a process forks and
 * ends. Weak, for either may be loaded alone: without the other there is no evidence.
 */
#pragma once

#include "export.h"

#define OKOSU_WEAK_PREZERO OKOSU_EXPORT __attribute__((weak))

/* In the child of a fork: count from nothing. */
OKOSU_WEAK_PREZERO void okosu_prezeroing_forked(void);
/* Append the line of evidence to the file. Async-signal-safe. */
OKOSU_WEAK_PREZERO void okosu_prezeroing_evidence(const char *proof);
