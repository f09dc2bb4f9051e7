/* SPDX-License-Identifier: Apache-2.0 */
/* Env: linear search on purpose: a launch makes a dozen changes, so an index would cost more than
 * it saves. */
#include "base/env.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const char *entry, const char *name, size_t length)
{
    if (strncmp(entry, name, length) != 0 || entry[length] != '=')
        return NULL;
    return entry + length + 1;
}

int okosu_env_init(struct okosu_env *env, struct okosu_arena *arena, char **entries)
{
    size_t count = 0;

    while (entries[count])
        count++;
    *env = (struct okosu_env){.arena = arena, .count = count, .room = count + 32};
    env->entries = calloc(env->room + 1, sizeof(*env->entries));
    if (!env->entries)
        return -ENOMEM;
    memcpy(env->entries, entries, count * sizeof(*entries));
    return 0;
}

void okosu_env_free(struct okosu_env *env)
{
    free(env->entries);
    free(env->touched);
    *env = (struct okosu_env){0};
}

const char *okosu_env_get(const struct okosu_env *env, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < env->count; i++) {
        const char *value = value_of(env->entries[i], name, length);

        if (value)
            return value;
    }
    return NULL;
}

static int touch(struct okosu_env *env, const char *name)
{
    const char **grown;

    for (size_t i = 0; i < env->touched_count; i++) {
        if (strcmp(env->touched[i], name) == 0)
            return 0;
    }
    grown = realloc(env->touched, (env->touched_count + 1) * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    env->touched = grown;
    grown[env->touched_count] = okosu_arena_strndup(env->arena, name, strlen(name));
    if (!grown[env->touched_count])
        return -ENOMEM;
    env->touched_count++;
    return 0;
}

static bool drop(struct okosu_env *env, const char *name)
{
    size_t length = strlen(name), kept = 0, before = env->count;

    for (size_t i = 0; i < env->count; i++) {
        if (!value_of(env->entries[i], name, length))
            env->entries[kept++] = env->entries[i];
    }
    env->entries[kept] = NULL;
    env->count = kept;
    return kept != before;
}

int okosu_env_set(struct okosu_env *env, const char *name, const char *value)
{
    char *entry = okosu_arena_printf(env->arena, "%s=%s", name, value);

    if (!entry)
        return -ENOMEM;
    drop(env, name);
    if (env->count == env->room) {
        size_t room = env->room * 2;
        char **grown = realloc(env->entries, (room + 1) * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        env->entries = grown;
        env->room = room;
    }
    env->entries[env->count++] = entry;
    env->entries[env->count] = NULL;
    return touch(env, name);
}

int okosu_env_unset(struct okosu_env *env, const char *name)
{
    return drop(env, name) ? touch(env, name) : 0;
}

size_t okosu_env_bytes(const struct okosu_env *env)
{
    size_t bytes = 0;

    for (size_t i = 0; i < env->count; i++)
        bytes += strlen(env->entries[i]) + 1;
    return bytes;
}
