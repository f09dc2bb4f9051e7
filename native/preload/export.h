/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the symbols that the library exports: the hooks and nothing else (the rest is built
 * hidden). */
#pragma once

#define OKOSU_EXPORT __attribute__((visibility("default")))

/* For variables that the hooks read on each call: the compiler option hides only definitions, and a
 * variable that is merely declared would be reached through the global offset table. */
#define OKOSU_LOCAL __attribute__((visibility("hidden")))
