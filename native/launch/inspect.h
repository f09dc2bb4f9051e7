/* SPDX-License-Identifier: Apache-2.0 */
/* Inspect: find PROGRAM as execvp would, follow scripts to their interpreter, and say what can be
 * done with it. */
#pragma once

#include "lever.h"

/* Find `name` by PATH (of env) and set program->path. 0; -ENOENT: there is none; -EACCES: there is
 * one, but it may not be executed; -EISDIR; -ENOMEM. */
int okosu_inspect_find(struct okosu_arena *arena, const struct okosu_env *env, const char *name,
                       struct okosu_program *program);
/* Fill the rest of *program from the file at program->path. 0; -errno when the file or an
 * interpreter is not there. */
int okosu_inspect_read(struct okosu_arena *arena, const struct okosu_env *env,
                       struct okosu_program *program);
/* "static-glibc" and so on. */
const char *okosu_inspect_kind(enum okosu_kind kind);
