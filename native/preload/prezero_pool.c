/* SPDX-License-Identifier: Apache-2.0 */
/* The pool behind libokosu-prezero.so (see prezero_pool.h). */
#include "prezero_pool.h"

#include "companion.h"
#include "next.h"
#include "proof.h"

#include "base/avail.h"
#include "base/file.h"
#include "pool/pool.h"

#include <okosu/zero.h>
#include <okosu/zero_pool.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIT OKOSU_PREZERO_MIN
/* The most memory that is populated before the program asks for it. */
#define READY_MOST ((size_t)256 << 20)
/* A request for more than this part of the pool goes to the kernel: often most of such a block is
 * never touched, and it is not allocated again and again. */
#define LARGEST_PART 8

_Atomic uintptr_t okosu_prezero_base;
atomic_size_t okosu_prezero_span;

static struct okosu_zero_pool *pool;
static atomic_bool begun, stopped;

/* In bytes, except `requests`: what is held now by requests that had to be zero, and what the pool
 * keeps ready. */
static struct {
    atomic_size_t requests, held_zero, ready_want, clean_want;
} demand;

/* For the evidence: the bytes served, by what was known of them, and the number of blocks. */
static struct {
    atomic_size_t blocks, bytes, there, clean, cleared, passed;
} served;

/* What the launcher asked for. It is read before a program with threads may change its environment,
 * and before libokosu-preload.so removes it from there (--children=0). */
static struct {
    bool is_read, children;
    pid_t root;
    char broker[sizeof(((struct sockaddr_un *)0)->sun_path)];
} settings = {.children = true};

static void read_environment(void)
{
    const char *children = getenv("OKOSU_CHILDREN"), *root = getenv("OKOSU_ROOT_PID");
    const char *broker = getenv("OKOSU_ZERO_BROKER");

    if (settings.is_read)
        return;
    settings.is_read = true;
    settings.children = !children || strcmp(children, "0") != 0;
    settings.root = root ? (pid_t)atol(root) : 0;
    if (broker && strlen(broker) < sizeof(settings.broker))
        strcpy(settings.broker, broker);
}

static unsigned long mask_at_start[1024 / (8 * sizeof(unsigned long))];
static long mask_bytes;

/* Before the program or libokosu-preload.so binds a thread to a CPU, which a new one inherits. */
__attribute__((constructor)) static void remember(void)
{
    mask_bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask_at_start), mask_at_start);
    read_environment();
}

/* Arguments of the pool's worker, of which there is one at a time. They are not allocated, because
 * a thread of lowest priority that gets no CPU while it is inside malloc blocks other threads. */
static struct {
    void *(*run)(void *);
    void *arg;
} start;

static void *run_unbound(void *arg)
{
    unsigned long mask[sizeof(mask_at_start) / sizeof(mask_at_start[0])];

    (void)arg;
    /* Only where it differs: libokosu-threads.so stands aside once a thread is moved. */
    if (mask_bytes > 0 && (syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask) != mask_bytes ||
                           memcmp(mask, mask_at_start, (size_t)mask_bytes) != 0))
        syscall(SYS_sched_setaffinity, 0, mask_bytes, mask_at_start);
    return start.run(start.arg);
}

/* The linker redirects the pool's calls of pthread_create here, so that libokosu-preload.so does
 * not pin the worker to one of the program's CPUs. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *arg)
{
    if (!OKOSU_NEXT_HAS(pthread_create))
        return EAGAIN;
    start.run = run;
    start.arg = arg;
    return okosu_next.pthread_create(thread, attr, run_unbound, NULL);
}

/* The pool's own mappings are not the program's, so its calls pass by the hooks of this library; the
 * next library's see them (see sys.c). */
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    return okosu_next.mmap(at, bytes, prot, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes)
{
    return okosu_next.munmap(at, bytes);
}

int __wrap_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice)
{
    return okosu_next.madvise(at, bytes, advice);
}

/* Under strict overcommit every mapping is charged in full, so that reserved address space is
 * memory that other programs cannot use. */
static bool charges_address_space(void)
{
    char text[8];

    return okosu_file_slurp("/proc/sys/vm/overcommit_memory", text, sizeof(text)) > 0 &&
           text[0] == '2';
}

/* Bytes: half of what is available, and at most a quarter of what a limit leaves. */
static size_t choose_cap(void)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
    size_t cap = okosu_avail_bytes("") / 2;
    struct rlimit limit;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (!getrlimit(limits[i], &limit) && limit.rlim_cur != RLIM_INFINITY &&
            cap > limit.rlim_cur / 4)
            cap = limit.rlim_cur / 4;
    }
    return cap & ~(UNIT - 1);
}

/* Whether --children=0 excludes this process, although it inherited the library with its
 * environment. */
static bool is_left_out(void)
{
    return !settings.children && settings.root != getpid();
}

/* Otherwise Linux copies each page that the parent clears or uses again, for children that cannot
 * use it. */
static void forget(void)
{
    okosu_pool_forget(pool);
}

/* The pool is made at the second large request, because a program with only one has no blocks to
 * reuse. Since `begun` is set, what is allocated here goes to the next allocator. */
static void begin(void)
{
    struct okosu_zero_pool_options options = {
        .backing = OKOSU_POOL_THP, .reuse = true, .fresh = true, .stand_back = true};
    int saved = errno, cancel;

    /* malloc is no cancellation point, while reading files and connecting are. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    read_environment();
    if (is_left_out() || charges_address_space() || sysconf(_SC_PAGESIZE) != 4096)
        goto out;
    options.cap = choose_cap();
    options.broker = settings.broker[0] ? settings.broker : NULL;
    if (options.cap < UNIT)
        goto out;
    /* The daemon may have ended since; the pool then works without it. */
    if (okosu_zero_pool_open(&pool, &options)) {
        options.broker = NULL;
        if (okosu_zero_pool_open(&pool, &options))
            goto out;
    }
    pthread_atfork(NULL, NULL, forget);
    atomic_store_explicit(&okosu_prezero_base, (uintptr_t)okosu_zero_pool_base(pool),
                          memory_order_relaxed);
    atomic_store_explicit(&okosu_prezero_span, options.cap, memory_order_release);
out:
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}

void okosu_prezero_stop(void)
{
    atomic_store(&stopped, true);
    if (atomic_load(&okosu_prezero_span))
        okosu_pool_retire(pool);
}

static pthread_mutex_t pausing = PTHREAD_MUTEX_INITIALIZER;

bool okosu_prezero_pause(void)
{
    if (!atomic_load(&okosu_prezero_span) || !okosu_pool_is_mine(pool))
        return false;
    pthread_mutex_lock(&pausing);
    okosu_pool_end(pool);
    return true;
}

void okosu_prezero_resume(void)
{
    okosu_pool_resume(pool);
    pthread_mutex_unlock(&pausing);
}

bool okosu_prezero_is_stopped(void)
{
    return atomic_load(&stopped);
}

bool okosu_prezero_is_private(const void *at, size_t bytes)
{
    return okosu_pool_is_private(pool, at, bytes);
}

static bool raise_to(atomic_size_t *value, size_t least)
{
    size_t now = atomic_load_explicit(value, memory_order_relaxed);

    while (now < least)
        if (atomic_compare_exchange_weak(value, &now, least))
            return true;
    return false;
}

/* The margin keeps the wanted amount from being raised at every request. */
static size_t with_margin(size_t bytes)
{
    return bytes + bytes / 4;
}

static void note_demand(size_t bytes, bool zero)
{
    size_t ready = with_margin(bytes), clean = atomic_load(&demand.held_zero) / 2;
    bool more = raise_to(&demand.ready_want, ready < READY_MOST ? ready : READY_MOST);

    if (zero)
        more |= raise_to(&demand.clean_want, with_margin(clean > bytes ? clean : bytes));
    if (more)
        okosu_zero_pool_want(pool, atomic_load(&demand.ready_want),
                             atomic_load(&demand.clean_want));
}

static bool has_pool(void)
{
    if (atomic_load_explicit(&stopped, memory_order_relaxed))
        return false;
    if (!atomic_load_explicit(&begun, memory_order_relaxed)) {
        if (atomic_fetch_add(&demand.requests, 1) == 0 || atomic_exchange(&begun, true))
            return atomic_load(&okosu_prezero_span);
        begin();
    }
    return atomic_load_explicit(&okosu_prezero_span, memory_order_acquire);
}

static void count(atomic_size_t *counter, size_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

char *okosu_prezero_take(size_t bytes, enum okosu_prezero_need need, size_t *dirty)
{
    struct okosu_zero_found found = {.there = bytes};
    char *block = NULL;
    size_t cleared;

    *dirty = 0;
    if (!has_pool() || bytes > atomic_load(&okosu_prezero_span) / LARGEST_PART) {
        count(&served.passed, 1);
        return NULL;
    }
    note_demand(bytes, need != OKOSU_PREZERO_ANY);
    if (need != OKOSU_PREZERO_ANY)
        block = okosu_zero_pool_take(pool, bytes);
    if (!block && need != OKOSU_PREZERO_CLEAN)
        block = okosu_zero_pool_take_any(pool, bytes, &found);
    if (!block) {
        count(&served.passed, 1);
        return NULL;
    }
    cleared = found.dirty < bytes ? found.dirty : bytes;
    *dirty = found.dirty;
    if (need != OKOSU_PREZERO_ANY && cleared) {
        okosu_zero_far(block, cleared);
        *dirty = found.dirty > bytes ? found.dirty : 0;
        count(&served.cleared, cleared);
    }
    if (found.there > bytes)
        found.there = bytes;
    count(&served.blocks, 1);
    count(&served.bytes, bytes);
    count(&served.there, found.there);
    count(&served.clean, found.there > cleared ? found.there - cleared : 0);
    if (need != OKOSU_PREZERO_ANY)
        count(&demand.held_zero, okosu_prezero_size(block));
    return block;
}

bool okosu_prezero_extend(char *block, size_t bytes, bool was_zero, size_t *dirty)
{
    size_t before = okosu_prezero_size(block);

    if (atomic_load(&stopped) || okosu_zero_pool_extend(pool, block, bytes, dirty))
        return false;
    if (was_zero)
        count(&demand.held_zero, okosu_prezero_size(block) - before);
    return true;
}

size_t okosu_prezero_size(const char *block)
{
    return okosu_zero_pool_size(pool, block);
}

char *okosu_prezero_block(const void *at)
{
    return okosu_pool_block(pool, at);
}

bool okosu_prezero_seize(const void *at)
{
    return okosu_pool_seize(pool, at);
}

void okosu_prezero_give(char *block, size_t dirty, bool was_zero)
{
    if (was_zero)
        atomic_fetch_sub(&demand.held_zero, okosu_prezero_size(block));
    okosu_zero_pool_give(pool, block, dirty);
}

bool okosu_prezero_renew(char *block, bool was_zero)
{
    size_t bytes = okosu_prezero_size(block);

    if (okosu_zero_pool_renew(pool, block))
        return false;
    if (was_zero)
        atomic_fetch_sub(&demand.held_zero, bytes);
    return true;
}

/* A child has its parent's blocks but no pool, so `inert` makes no difference. */
static void forked(bool inert)
{
    atomic_size_t *const counters[] = {&served.blocks, &served.bytes,   &served.there,
                                       &served.clean,  &served.cleared, &served.passed};

    (void)inert;
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
        atomic_store(counters[i], 0);
}

/* The making of the pool reads files and starts a thread. */
static void filtered(void)
{
    atomic_store(&begun, true);
}

static void evidence(struct okosu_proof *proof)
{
    const struct {
        const char *key;
        const atomic_size_t *value;
    } fields[] = {{"blocks", &served.blocks},   {"bytes", &served.bytes},
                  {"there", &served.there},     {"clean", &served.clean},
                  {"cleared", &served.cleared}, {"passed", &served.passed}};
    char text[512];
    struct okosu_line l = OKOSU_LINE(text);
    struct okosu_json json = {.line = &l};

    okosu_proof_open(&json, proof);
    okosu_json_string(&json, "by", "prezero");
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        okosu_json_unsigned(&json, fields[i].key, atomic_load(fields[i].value));
    okosu_proof_close(&json, proof);
}

OKOSU_EXPORT const struct okosu_companion okosu_companion_prezero = {
    .library = "libokosu-prezero.so",
    .begin = read_environment,
    .forked = forked,
    .filtered = filtered,
    .evidence = evidence,
};
