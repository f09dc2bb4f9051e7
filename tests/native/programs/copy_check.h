/* SPDX-License-Identifier: Apache-2.0 */
/* copy_check: the checks that only a memmove must pass. */
#pragma once

#include "routine_check.h"

bool check_overlap(const struct subject *subject);
bool check_large_overlap(const struct subject *subject);
