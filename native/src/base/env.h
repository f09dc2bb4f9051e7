/* SPDX-License-Identifier: Apache-2.0 */
/* Env: a copy of the environment that can be changed and then handed to execve, with a log of the
 * changes. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

struct okosu_env {
    char **entries; /* NULL-terminated, as execve wants it */
    size_t count;
    size_t room;
    struct okosu_arena *arena; /* owns the strings that were set here */
    const char **touched;      /* names set or removed since okosu_env_init, each once */
    size_t touched_count;
};

/* Start from `entries` (not copied: they must outlive env). 0 or -ENOMEM. */
int okosu_env_init(struct okosu_env *env, struct okosu_arena *arena, char **entries);
void okosu_env_free(struct okosu_env *env);
/* The value, or NULL; of a name that occurs twice the first one, as getenv does. */
const char *okosu_env_get(const struct okosu_env *env, const char *name);
/* Set `name`, dropping every earlier occurrence. 0 or -ENOMEM. */
int okosu_env_set(struct okosu_env *env, const char *name, const char *value);
/* Remove every occurrence; nothing is logged when there was none. 0 or -ENOMEM. */
int okosu_env_unset(struct okosu_env *env, const char *name);
/* Bytes of the strings with their NULs: what the kernel copies to the new stack. */
size_t okosu_env_bytes(const struct okosu_env *env);
