/* SPDX-License-Identifier: Apache-2.0 */
/* copy_rows: the routines that are measured, each complete for any size. */
#include "copy_bench.h"

#include <okosu/cpu.h>

#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>

size_t copy_routines(struct bench *bench, struct copy_routine routines[COPY_ROUTINES])
{
    static const struct {
        const char *name;
        okosu_copy_function *copy;
        enum okosu_copy_use use;
    } entries[] = {
        {"okosu_copy", okosu_copy, OKOSU_COPY_ANY},
        {"okosu_copy_near", okosu_copy_near, OKOSU_COPY_NEAR},
        {"okosu_copy_far", okosu_copy_far, OKOSU_COPY_FAR},
        {"okosu_copy_move", okosu_copy_move, OKOSU_COPY_ANY},
    };
    static char glibc[32];
    const struct okosu_copy_variant *const *table = okosu_copy_table();
    size_t count = 0;

    for (size_t i = 0; table[i] && count < COPY_ROUTINES - 5; i++) {
        const struct okosu_variant *about = &table[i]->about;
        if (about->needs & ~okosu_cpu_features()) {
            bench_absent(bench, about->name, "this CPU or kernel lacks what it needs", "");
            continue;
        }
        routines[count++] = (struct copy_routine){
            .variant = about->name,
            .kind = "okosu",
            .copy = table[i]->copy,
            .use = OKOSU_COPY_USES,
            .most = strcmp(about->name, "ref") == 0 ? 65536 : SIZE_MAX,
        };
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        routines[count++] = (struct copy_routine){
            .variant = entries[i].name,
            .kind = "okosu",
            .copy = entries[i].copy,
            .use = entries[i].use,
            .most = SIZE_MAX,
        };
    snprintf(glibc, sizeof(glibc), "glibc %s", gnu_get_libc_version());
    routines[count++] = (struct copy_routine){
        .variant = "glibc",
        .kind = "peer",
        .library = glibc,
        .copy = memcpy,
        .use = OKOSU_COPY_USES,
        .most = SIZE_MAX,
    };
    return count;
}

struct bench_row copy_row(const char *kernel, struct copy_routine *routine, size_t n)
{
    if (routine->use < OKOSU_COPY_USES)
        snprintf(routine->config, sizeof(routine->config), "%s",
                 okosu_copy_chosen(routine->use, n)->about.name);
    return (struct bench_row){.kernel = kernel,
                              .variant = routine->variant,
                              .kind = routine->kind,
                              .library = routine->library,
                              .config = routine->config[0] ? routine->config : NULL};
}
