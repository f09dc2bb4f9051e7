/* SPDX-License-Identifier: Apache-2.0 */
/* Edits an environment in place (see environ.h). Every edit makes a string shorter or drops it,
 * which is why no memory is needed. */
#include "environ.h"

#include "config.h"

#include <stdbool.h>
#include <string.h>

static bool starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether PIECE, of `len` bytes, is one of the pieces of LIST between colons. */
static bool is_listed(const char *list, const char *piece, size_t len)
{
    for (;;) {
        size_t n = strcspn(list, ":");

        if (n == len && memcmp(list, piece, len) == 0)
            return true;
        if (!list[n])
            return false;
        list += n + 1;
    }
}

static bool is_library(const char *piece, size_t len, const char *const *libraries)
{
    for (; *libraries; libraries++) {
        size_t n = strlen(*libraries);

        if (len >= n && memcmp(piece + len - n, *libraries, n) == 0 &&
            (len == n || piece[len - n - 1] == '/'))
            return true;
    }
    return false;
}

/* Drops from LIST, whose pieces end at any of SEPARATORS, our libraries or what ADDED lists (the
 * one that is not NULL). A piece that stays keeps the separator before it. */
static void filter(char *list, const char *separators, const char *const *libraries,
                   const char *added)
{
    char *out = list, *in = list;

    for (;;) {
        size_t len = strcspn(in, separators);
        bool last = !in[len];
        bool drop = libraries ? is_library(in, len, libraries) : is_listed(added, in, len);

        if (!drop) {
            if (out > list) {
                *out = in > list ? in[-1] : *separators;
                out++;
            }
            memmove(out, in, len);
            out += len;
        }
        if (last)
            break;
        in += len + 1;
    }
    *out = '\0';
}

static void clean_tunables(char **env)
{
    char *now = okosu_config_get(env, "GLIBC_TUNABLES");
    const char *added = okosu_config_get(env, "OKOSU_TUNABLES");

    if (now && added)
        filter(now, ":", NULL, added);
}

void okosu_environ_clean(char **env, const char *const *libraries)
{
    char **in, **out, *preload = okosu_config_get(env, "LD_PRELOAD");

    if (preload)
        filter(preload, " :", libraries, NULL);
    clean_tunables(env);
    for (in = out = env; *in; in++) {
        if (starts_with(*in, "OKOSU_") || strcmp(*in, "LD_PRELOAD=") == 0 ||
            strcmp(*in, "GLIBC_TUNABLES=") == 0)
            continue;
        *out++ = *in;
    }
    *out = NULL;
}
