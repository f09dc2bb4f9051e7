/* SPDX-License-Identifier: Apache-2.0 */
/* Thread placement (see pin.h). Raw system calls: the libc names are hooks of this library. */
#include "pin.h"

#include "config.h"
#include "evidence.h"
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD_BITS (8 * sizeof(unsigned long))

struct start {
    void *(*routine)(void *);
    void *arg;
    unsigned number;
};

static struct okosu_mask all;
static atomic_bool active;
static atomic_bool user_set;
static atomic_uint created;

static void mask_add(struct okosu_mask *m, unsigned cpu)
{
    m->words[cpu / WORD_BITS] |= 1ul << cpu % WORD_BITS;
}

static int mask_set(const struct okosu_mask *m)
{
    int saved = errno;
    int err = syscall(SYS_sched_setaffinity, 0, sizeof m->words, m->words) < 0 ? -errno : 0;

    errno = saved;
    return err;
}

/* The kernel's own answer; words beyond its mask are zero. */
static bool mask_get(struct okosu_mask *m)
{
    int saved = errno;
    long got;

    memset(m, 0, sizeof *m);
    got = syscall(SYS_sched_getaffinity, 0, sizeof m->words, m->words);
    errno = saved;
    return got > 0;
}

/* A mask of one CPU, and that CPU in the list, is the result of pinning by us, here or in the
 * parent. */
static bool is_pin(const unsigned long *words, size_t count)
{
    unsigned bits = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        bits += (unsigned)__builtin_popcountl(words[i]);
        if (i < OKOSU_MASK_WORDS ? words[i] & ~all.words[i] : words[i])
            return false;
    }
    return bits == 1;
}

static void pin_self(unsigned number)
{
    unsigned cpu = okosu_config.pin_list[number % okosu_config.pin_count];
    struct okosu_mask one = {{0}};

    mask_add(&one, cpu);
    if (mask_set(&one))
        okosu_reason_add(OKOSU_WHY_PIN_FAILED);
    else
        okosu_evidence_pinned(cpu);
}

static void widen_self(void)
{
    struct okosu_mask now;

    if (mask_get(&now) && is_pin(now.words, OKOSU_MASK_WORDS) && mask_set(&all))
        okosu_reason_add(OKOSU_WHY_PIN_FAILED);
}

/* An OpenMP runtime's constructor ran before ours and may have placed this thread already. */
static bool is_placed_by_openmp(void)
{
    struct okosu_mask now;
    unsigned first = okosu_config.pin_list[0];

    return okosu_config.openmp_binds && mask_get(&now) && is_pin(now.words, OKOSU_MASK_WORDS) &&
           !(now.words[first / WORD_BITS] >> first % WORD_BITS & 1);
}

void okosu_pin_start(void)
{
    unsigned i;

    for (i = 0; i < okosu_config.pin_count; i++)
        mask_add(&all, okosu_config.pin_list[i]);
    if (!okosu_config.pin_count)
        return;
    if (okosu_config.is_root) {
        if (!is_placed_by_openmp())
            pin_self(0);
        atomic_store(&active, true);
    } else {
        widen_self();
    }
}

void okosu_pin_stop(void)
{
    if (atomic_exchange(&active, false))
        widen_self();
}

bool okosu_pin_active(void)
{
    return atomic_load_explicit(&active, memory_order_relaxed);
}

/* OpenMP runtimes create their pools through pthread_create too, and place them by OMP_PLACES. */
static bool is_openmp(void *(*routine)(void *))
{
    static const char *const runtimes[] = {"libgomp", "libomp", "libiomp"};
    const char *name;
    void *address;
    Dl_info info;
    size_t i;

    memcpy(&address, &routine, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname)
        return false;
    name = strrchr(info.dli_fname, '/');
    name = name ? name + 1 : info.dli_fname;
    for (i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0)
            return true;
    }
    return false;
}

/* glibc answers with all bits set if the attribute has no affinity of its own, and refuses with
 * EINVAL if it has one that does not fit. */
static bool has_own_affinity(const pthread_attr_t *attr)
{
    struct okosu_mask mask;
    size_t i;

    if (!attr)
        return false;
    memset(&mask, 0xff, sizeof mask);
    if (pthread_attr_getaffinity_np(attr, sizeof mask.words, (cpu_set_t *)(void *)mask.words))
        return true;
    for (i = 0; i < OKOSU_MASK_WORDS; i++) {
        if (mask.words[i] != ~0ul)
            return true;
    }
    return false;
}

/* The record is freed before the program's routine runs, so that pthread_exit and cancellation
 * in the routine leak nothing; there is no cancellation point before that. */
static void *pinned_start(void *record)
{
    struct start start = *(struct start *)record;

    okosu_next.free(record);
    pin_self(start.number);
    return start.routine(start.arg);
}

int okosu_pin_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
                     void *arg)
{
    struct start *record = NULL;
    int saved = errno, err;

    if (!has_own_affinity(attr) && !(okosu_config.openmp_binds && is_openmp(routine)))
        record = okosu_next.malloc(sizeof *record);
    errno = saved;
    if (!record)
        return okosu_next.pthread_create(thread, attr, routine, arg);
    *record = (struct start){routine, arg, atomic_fetch_add(&created, 1) + 1};
    err = okosu_next.pthread_create(thread, attr, pinned_start, record);
    if (err) {
        atomic_fetch_sub(&created, 1);
        okosu_next.free(record);
    }
    return err;
}

bool okosu_pin_loosen(struct okosu_mask *before)
{
    return okosu_pin_active() && mask_get(before) && is_pin(before->words, OKOSU_MASK_WORDS) &&
           mask_set(&all) == 0;
}

void okosu_pin_restore(const struct okosu_mask *before)
{
    mask_set(before);
}

void okosu_pin_widen(void *bits, size_t size)
{
    size_t count = size / sizeof(unsigned long), i;
    unsigned long *words = bits;

    if (!okosu_pin_active() || atomic_load_explicit(&user_set, memory_order_relaxed) ||
        !is_pin(words, count))
        return;
    for (i = 0; i < count && i < OKOSU_MASK_WORDS; i++)
        words[i] = all.words[i];
}

void okosu_pin_user_set(void)
{
    atomic_store_explicit(&user_set, true, memory_order_relaxed);
}
