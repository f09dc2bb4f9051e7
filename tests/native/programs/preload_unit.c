/* SPDX-License-Identifier: Apache-2.0 */
/* Runner and fakes of the preload library's unit tests (see preload_unit.h). */
#include "preload_unit.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct fake fake;

static struct okosu_sys real;
static long faults;

static intptr_t fake_map(void *where, size_t length, int prot, int flags)
{
    if (++fake.map_calls == fake.map_fail_at) {
        if (flags & MAP_FIXED)
            real.unmap(where, length); /* kernels before 6.12 unmap first and account then */
        return -ENOMEM;
    }
    if (flags & MAP_HUGETLB) {
        if (!fake.hugetlb_pool) {
            real.unmap(where, length); /* the kernel finds the pool empty too late */
            return -ENOMEM;
        }
        fake.hugetlb_maps++;
        return real.map(where, length, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
    }
    if (fake.misalign && !where) {
        intptr_t at = real.map(NULL, length + 2 * OKOSU_CHUNK, prot, flags);
        intptr_t start = (at & ~(intptr_t)(OKOSU_CHUNK - 1)) + (intptr_t)OKOSU_PAGE;

        if (start < at)
            start += (intptr_t)OKOSU_CHUNK;
        if (start > at)
            real.unmap((void *)at, (size_t)(start - at));
        real.unmap((void *)(start + (intptr_t)length),
                   (size_t)(at + (intptr_t)(2 * OKOSU_CHUNK) - start));
        return start;
    }
    return real.map(where, length, prot, flags);
}

static int fake_advise(void *where, size_t length, int advice)
{
    switch (advice) {
    case MADV_HUGEPAGE:
        return fake.advise_error;
    case MADV_POPULATE_WRITE:
        if (fake.populate_error)
            return fake.populate_error;
        fake.populates++;
        faults += fake.small ? 512 : 1;
        return 0;
    case MADV_NOHUGEPAGE:
        fake.nohuge_bytes += length;
        return 0;
    default:
        return real.advise(where, length, advice);
    }
}

/* Fails as the kernel does: what was at the target is gone. */
static int fake_move(void *from, void *to, size_t length)
{
    bool fails = fake.move_error && (!fake.move_fails_on_many || length > OKOSU_CHUNK);

    if (fails || (fake.move_fail_every && random_below(&fake.seed, fake.move_fail_every) == 0)) {
        real.unmap(to, length);
        if (fake.mending_fails)
            fake.map_fail_at = fake.map_calls + 1;
        return fails ? fake.move_error : -ENOMEM;
    }
    fake.moves++;
    return real.move(from, to, length);
}

static long fake_faults(void)
{
    return faults;
}

static int fake_is_huge(const void *chunk)
{
    (void)chunk;
    return 0;
}

static bool fake_is_memory(int fd)
{
    return fd == 7;
}

static enum okosu_thp_state fake_thp_state(void)
{
    return fake.thp;
}

static size_t fake_available(void)
{
    return fake.available;
}

static size_t fake_address_limit(void)
{
    return fake.address_limit;
}

static uint64_t fake_random(unsigned turn)
{
    return turn;
}

void fake_install(void)
{
    real = okosu_sys;
    okosu_sys = (struct okosu_sys){
        .map = fake_map,
        .unmap = real.unmap,
        .is_plain = real.is_plain,
        .advise = fake_advise,
        .move = fake_move,
        .faults = fake_faults,
        .is_huge = fake_is_huge,
        .thp_state = fake_thp_state,
        .is_memory = fake_is_memory,
        .available = fake_available,
        .address_limit = fake_address_limit,
        .address_top = real.address_top,
        .random = fake_random,
    };
    fake = (struct fake){.available = (size_t)1 << 40, .address_limit = SIZE_MAX, .seed = 1};
    okosu_config.tier = OKOSU_TIER_THP;
}

unsigned random_below(unsigned *state, unsigned limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

static int run_all(const struct test_case *cases, bool faked, const char *only)
{
    int failed = 0, status;

    for (; cases->name; cases++) {
        pid_t pid;

        if (only && strcmp(only, cases->name) != 0)
            continue;
        fflush(NULL);
        pid = fork();
        if (pid == 0) {
            if (faked)
                fake_install();
            cases->run();
            exit(0);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
            fprintf(stderr, "FAILED: %s\n", cases->name);
            failed++;
        } else {
            printf("ok: %s\n", cases->name);
        }
    }
    return failed;
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    int failed = run_all(cases_runs, true, only) + run_all(cases_parts, false, only) +
                 run_all(cases_large, true, only) + run_all(cases_small, true, only);

    return failed ? 1 : 0;
}
