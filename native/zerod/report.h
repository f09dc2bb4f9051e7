/* SPDX-License-Identifier: Apache-2.0 */
/* report: prints the state of the engines and of a daemon, as JSON lines on stdout. */
#pragma once

#include "store.h"

/* One line for each engine: its name, whether it works here, and if not, why. Returns 0. */
int zerod_report_list(unsigned patience_ms);
/* Clear `high` bytes once, unit by unit, and check each unit: 0; -EIO: bytes were left. */
int zerod_report_once(const struct zerod_limits *limits, const struct zerod_use *use);
/* Print the figures of the daemon at this socket. 0; or -errno, and the error has been printed. */
int zerod_report_status(const char *path);
