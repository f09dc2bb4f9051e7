// SPDX-License-Identifier: Apache-2.0
// What Verilator's code prints (failed assertions) goes to stderr: stdout is the program's.
// Included ahead of everything.
#ifndef OKOSU_VERILATOR_PRINT_H
#define OKOSU_VERILATOR_PRINT_H

#include <cstdio>

#define VL_PRINTF(...) std::fprintf(stderr, __VA_ARGS__)

#endif
