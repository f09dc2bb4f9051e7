/* SPDX-License-Identifier: Apache-2.0 */
/* table: every variant of this build, from the plainest to the widest. */
#include "copy/rows.h"
#include "copy/select.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct okosu_copy_variant *const rows[] = {
    &okosu_copy_row_ref,
    &okosu_copy_row_loop8,
#if defined(__x86_64__)
    &okosu_copy_row_rep_movsb,
    &okosu_copy_row_block512,
    &okosu_copy_row_sse2,
    &okosu_copy_row_avx2,
    &okosu_copy_row_avx512,
    &okosu_copy_row_nt_sse2,
    &okosu_copy_row_nt_avx2,
    &okosu_copy_row_nt_avx512,
#endif
#if defined(__aarch64__)
    &okosu_copy_row_neon,
#endif
    NULL,
};

const struct okosu_copy_variant *const *okosu_copy_table(void)
{
    return rows;
}

#if defined(__x86_64__)
const struct okosu_copy_variant *const okosu_copy_always = &okosu_copy_row_sse2;
#elif defined(__aarch64__)
const struct okosu_copy_variant *const okosu_copy_always = &okosu_copy_row_neon;
#else
const struct okosu_copy_variant *const okosu_copy_always = &okosu_copy_row_loop8;
#endif

bool okosu_copy_is_vector(const struct okosu_copy_variant *variant)
{
#if defined(__x86_64__)
    if (variant == &okosu_copy_row_rep_movsb || variant == &okosu_copy_row_block512)
        return false;
#endif
    return variant != &okosu_copy_row_ref && variant != &okosu_copy_row_loop8;
}

bool okosu_copy_possible(const struct okosu_copy_variant *variant, uint64_t features)
{
    return !(variant->about.needs & ~features);
}

int okosu_copy_refuse(struct okosu_copy_reason *reason, int status, const char *why,
                      const char *fix, const char *what, ...)
{
    if (!reason)
        return status;
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(reason->what, sizeof(reason->what), what, arguments);
    va_end(arguments);
    snprintf(reason->why, sizeof(reason->why), "%s", why);
    snprintf(reason->fix, sizeof(reason->fix), "%s", fix);
    return status;
}

int okosu_copy_named(const char *name, size_t length, uint64_t features,
                     const struct okosu_copy_variant **variant, struct okosu_copy_reason *reason)
{
    /* A name of a file may be anything; more of it than this helps nobody. */
    int shown = length < 40 ? (int)length : 40;
    for (size_t i = 0; rows[i]; i++) {
        if (strlen(rows[i]->about.name) != length || memcmp(rows[i]->about.name, name, length))
            continue;
        *variant = rows[i];
        if (okosu_copy_possible(rows[i], features))
            return 0;
        return okosu_copy_refuse(reason, -ENOTSUP,
                                 "this processor or its kernel lacks what it needs",
                                 "`okosu bench copy --list` names the variants",
                                 "copy variant '%.*s' cannot run here", shown, name);
    }
    return okosu_copy_refuse(reason, -ENOENT, "no variant of this build has that name",
                             "`okosu bench copy --list` names the variants",
                             "unknown copy variant '%.*s'", shown, name);
}
