/* SPDX-License-Identifier: Apache-2.0 */
/* What the library shows to the program: the hooks, nothing else (the rest is built hidden). */
#pragma once

#define OKOSU_EXPORT __attribute__((visibility("default")))

/*
 * For what the hooks read on each call: the command line hides definitions only, and a declaration
 * that may lie elsewhere is reached by way of the global offset table. */
#define OKOSU_LOCAL __attribute__((visibility("hidden")))
