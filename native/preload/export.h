/* SPDX-License-Identifier: Apache-2.0 */
/* What the library shows to the program: the hooks, nothing else (the rest is built hidden). */
#pragma once

#define OKOSU_EXPORT __attribute__((visibility("default")))
