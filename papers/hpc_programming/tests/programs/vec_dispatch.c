/* SPDX-License-Identifier: Apache-2.0 */
/* Which variant the vector routines use: the first call by many threads at once, forcing, and a CPU
 * that lacks what a variant needs. Linked so that okosu_cpu_features() asks this program first.
 *
 *   vec_dispatch           all checks
 *   vec_dispatch chosen    print the name of the variant that is chosen (OKOSU_VEC, CPU) */
#include <okosu/cpu.h>
#include <okosu/vec.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 301
#define THREADS 16

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

uint64_t __real_okosu_cpu_features(void);
uint64_t __wrap_okosu_cpu_features(void);
static _Atomic uint64_t missing;

uint64_t __wrap_okosu_cpu_features(void)
{
    return __real_okosu_cpu_features() & ~atomic_load(&missing);
}

static double x[MOST], y[MOST];
static float u[MOST], v[MOST];

static void fill(void)
{
    unsigned seed = 1;

    for (int i = 0; i < MOST; i++) {
        x[i] = (double)rand_r(&seed) / 7 - 1e8;
        y[i] = (double)rand_r(&seed) / 3 - 3e8;
        u[i] = (float)x[i];
        v[i] = (float)y[i];
    }
}

static pthread_barrier_t start;
static double first_sums[THREADS];
static const struct okosu_vec_variant *first_rows[THREADS];

static void *first_call(void *argument)
{
    size_t i = (size_t)(uintptr_t)argument;

    pthread_barrier_wait(&start);
    first_sums[i] = okosu_vec_ddot(x, y, MOST);
    first_rows[i] = okosu_vec_chosen();
    return NULL;
}

static void check_first_calls(void)
{
    pthread_t threads[THREADS];

    CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, first_call, (void *)(uintptr_t)i) == 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        CHECK(first_rows[i] == okosu_vec_chosen());
        CHECK(first_sums[i] == okosu_vec_chosen()->ddot(x, y, MOST));
    }
}

#define REDUCES(name, ...) CHECK(okosu_vec_##name(__VA_ARGS__) == row->name(__VA_ARGS__))
#define UPDATES(type, name, from, into, ...)                                                       \
    do {                                                                                           \
        type a[MOST], b[MOST];                                                                     \
        memcpy(a, from, sizeof(a));                                                                \
        memcpy(b, from, sizeof(b));                                                                \
        type *into = a;                                                                            \
        okosu_vec_##name(__VA_ARGS__);                                                             \
        into = b;                                                                                  \
        row->name(__VA_ARGS__);                                                                    \
        CHECK(memcmp(a, b, sizeof(a)) == 0 && memcmp(a, from, sizeof(a)) != 0);                    \
    } while (0)

/* Each public routine is the member of the same name of the row that is in force. */
static void check_public(const struct okosu_vec_variant *row)
{
    CHECK(okosu_vec_chosen() == row);
    REDUCES(dsum, x, MOST);
    REDUCES(dsumsq, x, MOST);
    REDUCES(dasum, x, MOST);
    REDUCES(ddot, x, y, MOST);
    REDUCES(dnrm2, x, MOST);
    REDUCES(ddot_strided, 60, x, 2, y, -5);
    REDUCES(ssum, u, MOST);
    REDUCES(ssumsq, u, MOST);
    REDUCES(sasum, u, MOST);
    REDUCES(sdot, u, v, MOST);
    REDUCES(snrm2, u, MOST);
    REDUCES(sdot_strided, 60, u, 2, v, -5);
    UPDATES(double, daxpy, y, to, 3.5, x, to, MOST);
    UPDATES(double, dscal, y, to, 3.5, to, MOST);
    UPDATES(double, dtriad, y, to, 3.5, x, y, to, MOST);
    UPDATES(double, daxpy_strided, y, to, 60, 3.5, x, 2, to, -5);
    UPDATES(float, saxpy, v, to, 3.5f, u, to, MOST);
    UPDATES(float, sscal, v, to, 3.5f, to, MOST);
    UPDATES(float, striad, v, to, 3.5f, u, v, to, MOST);
    UPDATES(float, saxpy_strided, v, to, 60, 3.5f, u, 2, to, -5);
}

static const struct okosu_vec_variant *first_that_runs(void)
{
    const struct okosu_vec_variant *const *row = okosu_vec_table();

    while ((*row)->about.needs & ~__wrap_okosu_cpu_features())
        row++;
    return *row;
}

static void check_forcing(void)
{
    const struct okosu_vec_variant *const *table = okosu_vec_table();
    const struct okosu_vec_variant *before;

    for (; *table; table++) {
        const struct okosu_vec_variant *row = *table;

        if (row->about.needs & ~__real_okosu_cpu_features()) {
            CHECK(okosu_vec_force(row->about.name) == -ENOTSUP);
            continue;
        }
        CHECK(okosu_vec_force(row->about.name) == 0);
        check_public(row);
        CHECK(okosu_vec_force("nonesuch") == -ENOENT);
        CHECK(okosu_vec_force("") == -ENOENT);
        CHECK(okosu_vec_chosen() == row);
        if (row->about.needs == 0)
            continue;
        atomic_store(&missing, row->about.needs);
        CHECK(okosu_vec_force("ref") == 0);
        before = okosu_vec_chosen();
        CHECK(okosu_vec_force(row->about.name) == -ENOTSUP);
        CHECK(okosu_vec_chosen() == before);
        CHECK(okosu_vec_force(NULL) == 0);
        CHECK(okosu_vec_chosen() == first_that_runs());
        CHECK(okosu_vec_chosen() != row);
        atomic_store(&missing, 0);
    }
    CHECK(okosu_vec_force(NULL) == 0);
    atomic_store(&missing, UINT64_MAX);
    CHECK(okosu_vec_force(NULL) == 0);
    CHECK(strcmp(okosu_vec_chosen()->about.name, "ref") == 0);
    atomic_store(&missing, 0);
    CHECK(okosu_vec_force(NULL) == 0);
    check_public(first_that_runs());
}

static _Atomic bool over;

static void *call_on(void *argument)
{
    const struct okosu_vec_variant *const *table = okosu_vec_table();

    while (!atomic_load(&over)) {
        double sum = okosu_vec_dasum(x, MOST);
        bool known = false;

        for (size_t i = 0; table[i]; i++)
            if ((table[i]->about.needs & ~__real_okosu_cpu_features()) == 0)
                known = known || sum == table[i]->dasum(x, MOST);
        CHECK(known);
    }
    return NULL;
}

/* Another thread may force at any time; each call is then computed by one variant alone. */
static void check_forcing_meanwhile(void)
{
    const struct okosu_vec_variant *const *table = okosu_vec_table();
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, call_on, NULL) == 0);
    for (int round = 0; round < 20000; round++)
        for (size_t i = 0; table[i]; i++)
            (void)okosu_vec_force(table[i]->about.name);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "chosen") == 0) {
        printf("%s\n", okosu_vec_chosen()->about.name);
        return 0;
    }
    unsetenv("OKOSU_VEC");
    fill();
    check_first_calls();
    check_forcing();
    check_forcing_meanwhile();
    printf("ok\n");
    return 0;
}
