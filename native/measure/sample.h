/* SPDX-License-Identifier: Apache-2.0 */
/* --proof=sample: polls the memory of the live tree. */
#pragma once

#include "run.h"

/* Read every live process of the tree and raise the peak. */
void okosu_sample_take(struct okosu_run *run);
