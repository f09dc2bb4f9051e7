/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread leaves behind, and how a parked one is made as new (see thread_pool.h). */
#include "thread_pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <netdb.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_KEYS 32
#define SIGNALLERS_WAIT 1000
#define CHECK_EACH_NS 1000000
#define X87_EXCEPTIONS 0x3f
#define HWCAP2_FSGSBASE 2

/* glibc's table of keys, as libthread_db reads it in other processes. */
struct key {
    uintptr_t sequence; /* odd: in use */
    void (*destructor)(void *);
};

static atomic_uint keys_known = FIRST_KEYS;
static size_t default_stack, default_guard;
static uintptr_t libc_base, loader_base, own_base;
static int seccomp_at_start;
static cpu_set_t mask_at_start;
static uint32_t sched_at_start[12];
#ifdef __x86_64__
static bool gs_readable;
#endif

/* What is inherited from the thread that calls, and can be changed from outside the process. */
static bool read_placement(cpu_set_t *mask, uint32_t *attr)
{
    memset(attr, 0, sizeof(sched_at_start));
    CPU_ZERO(mask);
    return okosu_threads_next.syscall(SYS_sched_getaffinity, 0, sizeof(*mask), (long)mask, 0, 0,
                                      0) > 0 &&
           okosu_threads_next.syscall(SYS_sched_getattr, 0, (long)attr, sizeof(sched_at_start), 0,
                                      0, 0) == 0;
}

static bool memory_is_limited(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur != RLIM_INFINITY;
}

/* Tools that keep a shadow of each thread expect each to be made and to end. (okosu-run refuses a
 * program that holds such a tool itself.) */
static bool is_tool(const char *path)
{
    static const char *const names[] = {"vgpreload", "libasan", "libtsan",
                                        "libhwasan", "liblsan", "libclang_rt"};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(file, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

struct survey {
    size_t count, loaded;
    bool tool;
};

static int survey_one(struct dl_phdr_info *info, size_t size, void *data)
{
    struct survey *survey = data;

    (void)size;
    survey->count++;
    survey->loaded = (size_t)(info->dlpi_adds - info->dlpi_subs);
    survey->tool |= is_tool(info->dlpi_name ? info->dlpi_name : "");
    return 0;
}

const char *okosu_state_begin(void)
{
    const unsigned *rseq_size = dlsym(RTLD_NEXT, "__rseq_size");
    struct survey survey = {0};
    pthread_attr_t attr;

    libc_base = okosu_threads_base_of(dlsym(RTLD_NEXT, "__call_tls_dtors"));
    loader_base = okosu_threads_base_of(dlsym(RTLD_NEXT, "__tls_get_addr"));
    own_base = okosu_threads_base_of(&default_stack);
#ifdef __x86_64__
    gs_readable = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
#endif
    if (!libc_base || !loader_base || !own_base || !okosu_threads_next.keys)
        return "this libc is not one whose threads can be restored";
    /* Where libc has registered no restartable sequences, a library may register its own, in its
     * thread-local variables. */
    if (!rseq_size || !*rseq_size)
        return "libc has no restartable sequences";
    okosu_threads_next.iterate(survey_one, &survey);
    if (survey.tool)
        return "a tool that follows threads is loaded";
    if (survey.count != survey.loaded)
        return "libraries are loaded into another namespace (dlmopen, LD_AUDIT)";
    seccomp_at_start = okosu_threads_next.prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
    if (!read_placement(&mask_at_start, sched_at_start))
        return "the kernel does not tell where threads run";
    if (memory_is_limited())
        return "the address space is limited (RLIMIT_AS), and parked threads keep their stacks";
    if (pthread_getattr_default_np(&attr))
        return "libc does not tell the default attributes";
    pthread_attr_getstacksize(&attr, &default_stack);
    pthread_attr_getguardsize(&attr, &default_guard);
    pthread_attr_destroy(&attr);
    return NULL;
}

#ifdef __x86_64__
/* Some programs (Wine) keep an address in the segment register GS, which is a thread's own. */
static bool uses_gs(void)
{
    uint64_t base = 0;

    if (gs_readable)
        __asm__ volatile("rdgsbase %0" : "=r"(base));
    return base != 0;
}
#endif

bool okosu_state_inheritable(void)
{
    static __thread int64_t checked __attribute__((tls_model("initial-exec")));
    uint32_t attr[sizeof(sched_at_start) / sizeof(sched_at_start[0])];
    cpu_set_t mask;
    int64_t now;

    if (seccomp_at_start == 0 && okosu_threads_next.prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0)
        return false;
#ifdef __x86_64__
    if (uses_gs())
        return false;
#endif
    now = okosu_threads_now_ns(CLOCK_MONOTONIC);
    if (now - checked < CHECK_EACH_NS)
        return true;
    checked = now;
    return !memory_is_limited() && read_placement(&mask, attr) &&
           memcmp(&mask, &mask_at_start, sizeof(mask)) == 0 &&
           memcmp(attr, sched_at_start, sizeof(attr)) == 0;
}

static bool is_full(const cpu_set_t *set)
{
    const unsigned char *bytes = (const unsigned char *)set;

    for (size_t i = 0; i < sizeof(*set); i++) {
        if (bytes[i] != 0xff)
            return false;
    }
    return true;
}

bool okosu_state_key(const pthread_attr_t *attr, size_t *stack, size_t *guard)
{
    int detached, inherits, scope;
    cpu_set_t set;
    sigset_t mask;
    void *address;
    size_t size;

    *stack = default_stack;
    *guard = default_guard;
    if (!attr)
        return true;
    if (pthread_attr_getdetachstate(attr, &detached) || detached != PTHREAD_CREATE_JOINABLE ||
        pthread_attr_getinheritsched(attr, &inherits) || inherits != PTHREAD_INHERIT_SCHED ||
        pthread_attr_getscope(attr, &scope) || scope != PTHREAD_SCOPE_SYSTEM)
        return false;
    /* Without an address of its own this is 0 less the size. */
    if (pthread_attr_getstack(attr, &address, &size) || (uintptr_t)address + size != 0)
        return false;
    /* An attribute without a mask gives a full one. */
    if (pthread_attr_getaffinity_np(attr, sizeof(set), &set) || !is_full(&set))
        return false;
    if (pthread_attr_getsigmask_np(attr, &mask) != PTHREAD_ATTR_NO_SIGMASK_NP)
        return false;
    return pthread_attr_getstacksize(attr, stack) == 0 &&
           pthread_attr_getguardsize(attr, guard) == 0;
}

void okosu_state_key_made(pthread_key_t key)
{
    unsigned known = atomic_load_explicit(&keys_known, memory_order_relaxed);

    while (key >= known && !atomic_compare_exchange_weak(&keys_known, &known, key + 1))
        ;
}

/* Returns whether a destructor was called. What has none is set to NULL, like the rest. */
static bool destroy_once(const struct key *keys, unsigned count)
{
    bool called = false;

    for (unsigned key = 0; key < count; key++) {
        void *value = pthread_getspecific(key);
        void (*destructor)(void *);

        if (!value)
            continue;
        destructor = keys[key].destructor;
        pthread_setspecific(key, NULL);
        if (destructor) {
            destructor(value);
            called = true;
        }
    }
    return called;
}

void okosu_state_destroy(struct okosu_thread *thread)
{
    const struct key *keys = okosu_threads_next.keys;
    int rounds = 0;

    okosu_threads_next.call_tls_dtors();
    thread->destroying = true;
    while (destroy_once(keys, atomic_load(&keys_known)) && ++rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
        ;
    for (unsigned key = 0; key < atomic_load(&keys_known); key++) {
        if (pthread_getspecific(key))
            pthread_setspecific(key, NULL);
    }
    thread->destroying = false;
}

bool okosu_state_robust(const struct okosu_thread *thread)
{
    /* The first word points to the first mutex, or to itself; the third is a mutex that is being
     * taken. */
    return !thread->robust || *thread->robust != (void *)thread->robust || thread->robust[2];
}

struct restoring {
    size_t count, loaded;
    bool complete;
};

static bool keeps_variables(const struct dl_phdr_info *info)
{
    const char *name = info->dlpi_name ? info->dlpi_name : "";
    const char *file = strrchr(name, '/');

    return info->dlpi_addr == libc_base || info->dlpi_addr == loader_base ||
           info->dlpi_addr == own_base || strncmp(file ? file + 1 : name, "libokosu-", 9) == 0;
}

static int restore_one(struct dl_phdr_info *info, size_t size, void *data)
{
    struct restoring *all = data;

    (void)size;
    all->count++;
    all->loaded = (size_t)(info->dlpi_adds - info->dlpi_subs);
    if (!info->dlpi_tls_modid || keeps_variables(info))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type != PT_TLS)
            continue;
        /* A library that came after the thread: whether its variables were touched, and where they
         * are, is not known. */
        if (!info->dlpi_tls_data) {
            all->complete = false;
            return 1;
        }
        memcpy(info->dlpi_tls_data, (const void *)(info->dlpi_addr + segment->p_vaddr),
               segment->p_filesz);
        memset((char *)info->dlpi_tls_data + segment->p_filesz, 0,
               segment->p_memsz - segment->p_filesz);
    }
    return 0;
}

/* Thread-local variables of all libraries but libc's and ours, which live as long as the kernel's
 * thread. */
static bool restore_variables(void)
{
    struct restoring all = {.complete = true};

    okosu_threads_next.iterate(restore_one, &all);
    return all.complete && all.count == all.loaded;
}

/* A signal that was sent to this thread and never taken would meet the next one. That of the process
 * cannot be told from it. */
bool okosu_state_unsignalled(const struct okosu_thread *thread)
{
    sigset_t pending;

    for (int i = 0; atomic_load(&thread->signallers); i++) {
        if (i == SIGNALLERS_WAIT)
            return false;
        sched_yield();
    }
    return sigpending(&pending) == 0 && sigisemptyset(&pending);
}

bool okosu_state_restore(struct okosu_thread *thread)
{
    stack_t stack;
    int was;

    if (atomic_load(&thread->spent) || !okosu_state_unsignalled(thread))
        return false;
    if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_DISABLE))
        return false;
#ifdef __x86_64__
    if (uses_gs())
        return false;
#endif
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &was);
    dlerror();
    if (!restore_variables())
        return false;
    thread->cpu_ns = okosu_threads_now_ns(CLOCK_THREAD_CPUTIME_ID);
    return okosu_threads_next.getrusage(RUSAGE_THREAD, &thread->usage) == 0;
}

void okosu_state_capture(struct okosu_thread_start *start)
{
    pthread_sigmask(SIG_BLOCK, NULL, &start->mask);
#ifdef __x86_64__
    __asm__ volatile("fnstcw %0\n\tfnstsw %1" : "=m"(start->x87_control), "=m"(start->x87_status));
    __asm__ volatile("stmxcsr %0" : "=m"(start->vector_control));
#endif
    if (start->rename)
        okosu_threads_next.prctl(PR_GET_NAME, start->name, 0, 0, 0);
}

#ifdef __x86_64__
/* Exceptions that the creator's x87 arithmetic has raised are inherited; no instruction sets them
 * alone. */
static void inherit_x87(const struct okosu_thread_start *start)
{
    uint16_t environment[14];

    __asm__ volatile("fninit\n\tfldcw %0" ::"m"(start->x87_control));
    if (!(start->x87_status & X87_EXCEPTIONS))
        return;
    __asm__ volatile("fnstenv %0" : "=m"(environment));
    environment[0] = start->x87_control;
    environment[2] = start->x87_status & X87_EXCEPTIONS;
    __asm__ volatile("fldenv %0" ::"m"(environment));
}
#endif

void okosu_state_inherit(struct okosu_thread *thread)
{
    const struct okosu_thread_start *start = &thread->start;
    int was;

#ifdef __x86_64__
    inherit_x87(start);
    __asm__ volatile("ldmxcsr %0" ::"m"(start->vector_control));
#endif
    if (start->rename)
        okosu_threads_next.prctl(PR_SET_NAME, start->name, 0, 0, 0);
    /* This also brings the tables of <ctype.h> of the locale that is global now. */
    uselocale(LC_GLOBAL_LOCALE);
    h_errno = 0;
    errno = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &was);
    pthread_sigmask(SIG_SETMASK, &start->mask, NULL);
}
