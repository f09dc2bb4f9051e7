/* SPDX-License-Identifier: Apache-2.0 */
/* sve_length BYTES: the routines of SVE in a thread that has made its vectors of another length than
 * they were compiled for. Prints how many rows of them were tried; a wrong result ends it with 1. */
#include <okosu/copy.h>
#include <okosu/cpu.h>
#include <okosu/vec.h>
#include <okosu/zero.h>

#include <linux/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { MOST = 700 };

static double x[MOST], y[MOST];
static int tried;

static void check(int right, const char *what, const char *name, size_t n)
{
    if (right)
        return;
    fprintf(stderr, "%s of %s: wrong with n = %zu\n", what, name, n);
    exit(1);
}

static int runs(const struct okosu_variant *about)
{
    int is_sve = !strncmp(about->name, "sve", 3) && !(about->needs & ~okosu_cpu_features());

    tried += is_sve;
    return is_sve;
}

static void vectors(void)
{
    const struct okosu_vec_variant *const *row, *neon = NULL;
    static double out[MOST], wanted[MOST];

    for (row = okosu_vec_table(); *row; row++)
        neon = strcmp((*row)->about.name, "neon") ? neon : *row;
    for (row = okosu_vec_table(); *row; row++) {
        const char *name = (*row)->about.name;

        if (!runs(&(*row)->about))
            continue;
        for (size_t n = 0; n < MOST; n++) {
            check((*row)->dsum(x, n) == neon->dsum(x, n), "dsum", name, n);
            check((*row)->ddot(x, y, n) == neon->ddot(x, y, n), "ddot", name, n);
            memcpy(out, y, sizeof(out));
            memcpy(wanted, y, sizeof(wanted));
            (*row)->daxpy(3, x, out, n);
            neon->daxpy(3, x, wanted, n);
            check(!memcmp(out, wanted, sizeof(out)), "daxpy", name, n);
        }
    }
}

static void bytes(void)
{
    const struct okosu_copy_variant *const *copy;
    const struct okosu_zero_variant *const *zero;
    static unsigned char out[sizeof(x)], wanted[sizeof(x)];

    for (copy = okosu_copy_table(); *copy; copy++) {
        if (!runs(&(*copy)->about))
            continue;
        for (size_t n = 0; n < sizeof(x); n++) {
            memset(out, 1, sizeof(out));
            memset(wanted, 1, sizeof(wanted));
            (*copy)->copy(out, x, n);
            memcpy(wanted, x, n);
            check(!memcmp(out, wanted, sizeof(out)), "copy", (*copy)->about.name, n);
        }
    }
    for (zero = okosu_zero_table(); *zero; zero++) {
        if (!runs(&(*zero)->about))
            continue;
        for (size_t n = 0; n < sizeof(x); n++) {
            memset(out, 1, sizeof(out));
            memset(wanted, 1, sizeof(wanted));
            (*zero)->set(out, 7, n);
            memset(wanted, 7, n);
            check(!memcmp(out, wanted, sizeof(out)), "set", (*zero)->about.name, n);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || !okosu_cpu_features())
        return 2;
    for (int i = 0; i < MOST; i++) {
        x[i] = 1.0 / (i + 1);
        y[i] = 1.0 / (i + 7);
    }
    if (prctl(PR_SVE_SET_VL, strtoul(argv[1], NULL, 10)) < 0) {
        perror("PR_SVE_SET_VL");
        return 2;
    }
    vectors();
    bytes();
    printf("%d\n", tried);
    return 0;
}
