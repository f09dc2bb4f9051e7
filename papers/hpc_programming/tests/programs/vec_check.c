/* SPDX-License-Identifier: Apache-2.0 */
/* Compares every row of libokosu's table of vector routines that this CPU can run with integer
 * arithmetic and plain loops, over sizes, addresses, guard pages, special values and strides.
 *
 *   vec_check [--quick | --large] [--readable] [--only ROW] [--broken ROW]
 *
 * --quick leaves out sizes and shifts (for sanitizers and emulators); --large instead tries
 * arrays of more than 2^31 bytes; --readable makes the guard pages readable, for an emulator whose
 * masked loads read also what the mask leaves out; --broken checks a row with a planted bug, which
 * must fail. */
#include "vec_check.h"

#include <okosu/cpu.h>

#include <stdio.h>
#include <string.h>

bool vec_rounds_once(const struct okosu_vec_variant *row)
{
    static const char *const names[] = {"avx512", "neon", "sve256", "sve512"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(row->about.name, names[i]) == 0)
            return true;
    return false;
}

static void check(const struct okosu_vec_variant *row, const struct vec_extent *extent)
{
    vec_check_double(row, extent);
    vec_check_float(row, extent);
    vec_long(row);
    vec_values_double(row);
    vec_values_float(row);
    vec_strides_double(row);
    vec_strides_float(row);
}

static int usage(void)
{
    fprintf(stderr,
            "usage: vec_check [--quick | --large] [--readable] [--only ROW] [--broken ROW]\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const struct vec_extent full = {512, 1, 1}, quick = {40, 59, 3};
    const struct vec_extent *extent = &full;
    const struct okosu_vec_variant *const *table = okosu_vec_table();
    const char *only = NULL;
    bool large = false;
    int checked = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            extent = &quick;
        else if (strcmp(argv[i], "--large") == 0)
            large = true;
        else if (strcmp(argv[i], "--readable") == 0)
            vec_guards_readable = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--broken") == 0 && i + 1 < argc) {
            only = argv[++i];
            table = vec_broken;
            vec_break();
        } else
            return usage();
    }
    vec_catch_faults();
    for (; *table; table++) {
        const struct okosu_vec_variant *row = *table;

        if (only && strcmp(only, row->about.name) != 0)
            continue;
        if (row->about.needs & ~okosu_cpu_features()) {
            printf("%s: not on this CPU\n", row->about.name);
            continue;
        }
        if (large)
            vec_large(row);
        else
            check(row, extent);
        printf("%s: ok\n", row->about.name);
        fflush(stdout);
        checked++;
    }
    return checked ? 0 : 2;
}
