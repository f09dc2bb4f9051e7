// SPDX-License-Identifier: Apache-2.0
// What Verilator's code prints (failed assertions) goes to stderr: stdout is the program's.
// Included ahead of everything, with the header that nearly every file needs: simulator.mk has both parsed once.
#ifndef OKOSU_VERILATOR_PRINT_H
#define OKOSU_VERILATOR_PRINT_H

#include <cstdio>

#define VL_PRINTF(...) std::fprintf(stderr, __VA_ARGS__)

#include "verilated.h"

#endif
