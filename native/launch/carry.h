/* SPDX-License-Identifier: Apache-2.0 */
/* Carry: carry the plan out. The only part of okosu-run that changes anything. */
#pragma once

#include "prepare.h"

/* Does not return when the program starts; otherwise an exit status after a message. */
int okosu_carry_out(struct okosu_launch *launch);
