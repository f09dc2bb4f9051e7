/* SPDX-License-Identifier: Apache-2.0 */
/* report: what the engines do here, and what a daemon has, as JSON lines on stdout. */
#ifndef ZEROD_REPORT_H
#define ZEROD_REPORT_H

#include "store.h"

/* One line an engine: its name, whether it serves here, and why not. 0. */
int zerod_report_list(unsigned patience_ms);
/* Clear `high` bytes once, unit by unit, and look at each of them: 0; -EIO: some were left. */
int zerod_report_once(const struct zerod_limits *limits, const struct zerod_use *use);
/* What the daemon at this socket has. 0; or -errno, and it was said why. */
int zerod_report_status(const char *path);

#endif
