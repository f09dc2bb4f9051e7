/* SPDX-License-Identifier: Apache-2.0 */
/* Print: what okosu-run says on stdout instead of running a program. */
#pragma once

#include "prepare.h"

/* The table of levers as JSON. */
void okosu_print_levers(void);
/* What PROGRAM is, as JSON. */
void okosu_print_program(const struct okosu_program *program);
/* The plan: arguments, environment changes, system calls; as text or as JSON. */
void okosu_print_plan(struct okosu_launch *launch);
/* "MPOL_BIND" and so on. */
const char *okosu_print_policy(int policy);
/* The nodes or CPUs of the plan in list notation, from its arena. */
const char *okosu_print_nodes(struct okosu_plan *plan);
const char *okosu_print_cpus(struct okosu_plan *plan, const struct okosu_cpuset *cpus);
