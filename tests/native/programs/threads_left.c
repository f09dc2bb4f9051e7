/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread may do to itself, to its process and at its end that a later thread must not find.
 * As in threads_legal.c each case, named by argv[1], ends with status 0 where it finds what POSIX
 * and glibc promise; argv[2] is the folder of this program, with threads_library.so in it. */
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#define ROUNDS 20
static const char *folder;

/* Threads that do nothing, so that there are parked ones when a case begins. */
static void park_some(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        threads[i] = start(same, NULL);
    for (int i = 0; i < 4; i++)
        join(threads[i]);
}

/* Each thread runs `leave` and the next one `look`, which gets `arg`. */
static void left(routine *leave, routine *look, void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        join(start(look, arg));
        join(start(leave, arg));
        join(start(look, arg));
    }
}

/* glibc writes the variable before the thread runs, and never again. */
static pthread_t shared_id;

static void *reads_id(void *arg)
{
    CHECK(pthread_equal(shared_id, pthread_self()));
    shared_id = 0;
    return arg;
}

static void identity(void)
{
    for (int i = 0; i < ROUNDS * 20; i++) {
        void *result;
        pthread_t *place = malloc(sizeof(*place)), id;

        CHECK(pthread_create(place, NULL, same, NULL) == 0);
        id = *place;
        free(place);
        CHECK(pthread_create(&shared_id, NULL, reads_id, NULL) == 0);
        CHECK(pthread_join(id, &result) == 0 && !result);
        while (__atomic_load_n(&shared_id, __ATOMIC_SEQ_CST))
            sched_yield();
    }
}

static void error_numbers(void)
{
    struct timespec soon;

    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;

        pthread_mutex_lock(&gate);
        thread = start(passes_gate, NULL);
        errno = E2BIG;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 1000000;
        soon.tv_sec += soon.tv_nsec / 1000000000;
        soon.tv_nsec %= 1000000000;
        CHECK(pthread_timedjoin_np(thread, NULL, &soon) == ETIMEDOUT && errno == E2BIG);
        pthread_mutex_unlock(&gate);
        join(thread);
        CHECK(errno == E2BIG);
        join(start(same, NULL));
        CHECK(errno == E2BIG);
    }
}

static void *leaves_signal_stack(void *arg)
{
    stack_t stack = {.ss_sp = malloc(SIGSTKSZ * 4), .ss_size = SIGSTKSZ * 4};

    CHECK(sigaltstack(&stack, NULL) == 0);
    return arg;
}

static void *has_no_signal_stack(void *arg)
{
    stack_t stack;

    CHECK(sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_DISABLE);
    return arg;
}

static void signal_stack(void)
{
    left(leaves_signal_stack, has_no_signal_stack, NULL);
}

static void *leaves_cancel_type(void *arg)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return arg;
}

static void *cancels_deferred(void *arg)
{
    int type, state;

    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    CHECK(type == PTHREAD_CANCEL_DEFERRED && state == PTHREAD_CANCEL_ENABLE);
    return arg;
}

static void cancel_type(void)
{
    left(leaves_cancel_type, cancels_deferred, NULL);
}

static cpu_set_t mask_at_start;

static void *leaves_affinity(void *arg)
{
    cpu_set_t one;
    int cpu = 0;

    while (!CPU_ISSET(cpu, &mask_at_start))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (*(int *)arg == 0)
        CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
    else if (*(int *)arg == 1)
        CHECK(pthread_setaffinity_np(pthread_self(), sizeof(one), &one) == 0);
    else
        CHECK(syscall(SYS_sched_setaffinity, 0, sizeof(one), &one) == 0);
    return arg;
}

static void *has_affinity(void *arg)
{
    cpu_set_t mask;

    CHECK(sched_getaffinity(0, sizeof(mask), &mask) == 0 && CPU_EQUAL(&mask, &mask_at_start));
    return arg;
}

static void affinity(int way)
{
    CHECK(sched_getaffinity(0, sizeof(mask_at_start), &mask_at_start) == 0);
    park_some();
    left(leaves_affinity, has_affinity, &way);
}

static void affinity_of_process(void)
{
    affinity(0);
}

static void affinity_of_thread(void)
{
    affinity(1);
}

static void affinity_by_number(void)
{
    affinity(2);
}

/* A creator that was moved moves its threads. */
static void *has_creators_affinity(void *arg)
{
    cpu_set_t mask;

    CHECK(sched_getaffinity(0, sizeof(mask), &mask) == 0 && CPU_EQUAL(&mask, (cpu_set_t *)arg));
    return arg;
}

static void affinity_of_creator(void)
{
    cpu_set_t one;
    int cpu = CPU_SETSIZE - 1;

    CHECK(sched_getaffinity(0, sizeof(mask_at_start), &mask_at_start) == 0);
    park_some();
    while (!CPU_ISSET(cpu, &mask_at_start))
        cpu--;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
    for (int i = 0; i < ROUNDS; i++)
        join(start(has_creators_affinity, &one));
}

static void *leaves_policy(void *arg)
{
    struct sched_param none = {0};

    if (*(int *)arg == 0)
        CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    else if (*(int *)arg == 1)
        CHECK(pthread_setschedparam(pthread_self(), SCHED_IDLE, &none) == 0);
    else
        CHECK(setpriority(PRIO_PROCESS, (id_t)gettid(), 7) == 0);
    return arg;
}

static void *has_policy(void *arg)
{
    CHECK(sched_getscheduler(0) == SCHED_OTHER);
    CHECK(getpriority(PRIO_PROCESS, 0) == 0);
    return arg;
}

static void policy(void)
{
    for (int way = 0; way < 3; way++) {
        park_some();
        left(leaves_policy, has_policy, &way);
    }
}

static void *leaves_controls(void *arg)
{
    static const uint16_t single = 0x07f;
    static const uint32_t flushing = 0x9fc0;

    __asm__ volatile("fldcw %0\n\tldmxcsr %1" ::"m"(single), "m"(flushing));
    __asm__ volatile("fld1\n\tfldpi\n\tfdivrp\n\tfstp %%st(0)" ::: "memory");
    return arg;
}

static void *has_controls(void *arg)
{
    const uint32_t *wanted = arg;
    uint16_t control, status;
    uint32_t vector;

    __asm__ volatile("fnstcw %0\n\tfnstsw %1\n\tstmxcsr %2"
                     : "=m"(control), "=m"(status), "=m"(vector));
    CHECK(control == wanted[0] && (status & 0x3f) == wanted[1] && vector == wanted[2]);
    return arg;
}

/* The controls and the exceptions of arithmetic are the creator's. */
static void arithmetic(void)
{
    uint32_t wanted[3] = {0x37f, 0, 0x1f80};
    volatile double three = 3;

    __asm__ volatile("fninit\n\tldmxcsr %0" ::"m"(wanted[2]));
    left(leaves_controls, has_controls, wanted);
    __asm__ volatile("fld1\n\tfldpi\n\tfdivrp\n\tfstp %%st(0)" ::: "memory");
    three = 1 / three;
    wanted[1] = 0x20;
    wanted[2] = 0x1fa0;
    left(leaves_controls, has_controls, wanted);
}

static void *leaves_prctl(void *arg)
{
    switch (*(int *)arg) {
    case 0:
        CHECK(prctl(PR_SET_PDEATHSIG, SIGUSR1) == 0);
        break;
    case 1:
        CHECK(prctl(PR_SET_TIMERSLACK, 123456UL) == 0);
        break;
    default:
        CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    }
    return arg;
}

static void *has_prctl(void *arg)
{
    int death = 1;

    CHECK(prctl(PR_GET_PDEATHSIG, &death) == 0 && death == 0);
    CHECK(prctl(PR_GET_TIMERSLACK) == 50000);
    CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
    return arg;
}

static void controls(void)
{
    CHECK(prctl(PR_SET_TIMERSLACK, 0UL) == 0);
    if (prctl(PR_GET_TIMERSLACK) != 50000 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
        return; /* what started this has changed them */
    for (int way = 0; way < 3; way++) {
        park_some();
        left(leaves_prctl, has_prctl, &way);
    }
}

static int filter_this_thread(bool by_number)
{
    struct sock_filter refuse[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTNAM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = refuse};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    if (by_number)
        return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *is_not_filtered(void *arg)
{
    CHECK(syscall(SYS_getppid) == getppid() && syscall(SYS_getppid) >= 0);
    return arg;
}

static void *is_filtered(void *arg)
{
    CHECK(syscall(SYS_getppid) == -1 && errno == ENOTNAM);
    return arg;
}

/* The threads of a filtered thread are filtered, those of others are not. */
static void *leaves_filter(void *arg)
{
    CHECK(filter_this_thread(*(int *)arg) == 0);
    for (int i = 0; i < 3; i++)
        join(start(is_filtered, arg));
    return arg;
}

static void filters(void)
{
    for (int way = 0; way < 2; way++) {
        park_some();
        for (int i = 0; i < 3; i++) {
            join(start(is_not_filtered, NULL));
            join(start(leaves_filter, &way));
            join(start(is_not_filtered, NULL));
        }
    }
}

static void read_capabilities(struct __user_cap_data_struct *sets)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

    CHECK(syscall(SYS_capget, &header, sets) == 0);
}

static void *leaves_no_capability(void *arg)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    CHECK(syscall(SYS_capset, &header, none) == 0);
    return arg;
}

static void *has_capabilities(void *arg)
{
    struct __user_cap_data_struct sets[2];

    read_capabilities(sets);
    CHECK(memcmp(sets, arg, sizeof(sets)) == 0);
    return arg;
}

static void *leaves_user(void *arg)
{
    CHECK(syscall(SYS_setresuid, 65534, 65534, 65534) == 0);
    return arg;
}

static void *has_user(void *arg)
{
    CHECK(geteuid() == *(uid_t *)arg && getuid() == *(uid_t *)arg);
    return arg;
}

/* By number they are the thread's; by name the whole process's, with the parked threads. */
static void privileges(void)
{
    struct __user_cap_data_struct sets[2];
    uid_t user = geteuid();

    read_capabilities(sets);
    park_some();
    left(leaves_no_capability, has_capabilities, sets);
    if (user)
        return;
    park_some();
    left(leaves_user, has_user, &user);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        int status;

        if (child) {
            CHECK(waitpid(child, &status, 0) == child && status == 0);
            continue;
        }
        park_some();
        user = 65534;
        CHECK(setuid(user) == 0);
        left(same, has_user, &user);
        _exit(0);
    }
    park_some();
    user = 65534;
    CHECK(setuid(user) == 0);
    left(same, has_user, &user);
}

static void *leaves_folder(void *arg)
{
    CHECK(unshare(CLONE_FS) == 0 && chdir("/proc") == 0);
    return arg;
}

static void *has_folder(void *arg)
{
    char path[PATH_MAX];

    CHECK(getcwd(path, sizeof(path)) && !strcmp(path, arg));
    return arg;
}

static void folders(void)
{
    static char path[PATH_MAX];

    CHECK(getcwd(path, sizeof(path)));
    park_some();
    left(leaves_folder, has_folder, path);
}

static void *in_library(void *name)
{
    char path[PATH_MAX];
    void *library;
    int (*count)(void);

    snprintf(path, sizeof(path), "%s/threads_library.so", folder);
    library = dlopen(path, RTLD_NOW);
    CHECK(library);
    *(void **)&count = dlsym(library, name);
    CHECK(count && count() == 1 && count() == 2);
    dlclose(library);
    return name;
}

static void *reads_error(void *arg)
{
    CHECK(dlerror() == NULL);
    CHECK(dlopen("/no/such/library", RTLD_NOW) == NULL);
    return arg;
}

/* A library with thread-local variables that comes and goes, or that comes while threads are
 * parked. */
static void libraries(void)
{
    char path[PATH_MAX];
    void *library;
    int (*count)(void);

    for (int i = 0; i < ROUNDS; i++) {
        join(start(in_library, "count_dynamic"));
        join(start(in_library, "count_destroyed"));
        join(start(reads_error, NULL));
    }
    park_some();
    snprintf(path, sizeof(path), "%s/threads_library.so", folder);
    library = dlopen(path, RTLD_NOW);
    CHECK(library);
    for (int i = 0; i < ROUNDS; i++) {
        join(start(in_library, "count_dynamic"));
        join(start(in_library, "count_destroyed"));
    }
    *(void **)&count = dlsym(library, "destructions");
    CHECK(count && count() >= ROUNDS);
}

int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library);
extern void *__dso_handle;
static pthread_key_t last;
static atomic_int late, early;

static void counts(void *counter)
{
    atomic_fetch_add((atomic_int *)counter, 1);
}

static void registers_late(void *value)
{
    CHECK(value == &last);
    __cxa_thread_atexit_impl(counts, &late, &__dso_handle);
}

static void *registers(void *arg)
{
    __cxa_thread_atexit_impl(counts, &early, &__dso_handle);
    pthread_setspecific(last, &last);
    return arg;
}

/* glibc runs the destructors of thread_local objects once, before those of keys. */
static void destructors(void)
{
    CHECK(pthread_key_create(&last, registers_late) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        join(start(registers, NULL));
        CHECK(atomic_load(&early) == i + 1 && atomic_load(&late) == 0);
    }
}

static void spend_cpu(void)
{
    for (volatile int i = 0; i < 20000000; i++)
        ;
}

static int64_t cpu_ns(clockid_t clock)
{
    struct timespec t;

    CHECK(clock_gettime(clock, &t) == 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A new thread has taken less than what spend_cpu takes. */
static int64_t spent_ns;

static void *is_young(void *arg)
{
    struct rusage usage;
    clockid_t mine;

    CHECK(cpu_ns(CLOCK_THREAD_CPUTIME_ID) >= 0 && cpu_ns(CLOCK_THREAD_CPUTIME_ID) < spent_ns);
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
    CHECK(usage.ru_utime.tv_sec * 1000000000 + usage.ru_utime.tv_usec * 1000 < spent_ns);
    CHECK(usage.ru_nvcsw >= 0 && usage.ru_minflt >= 0);
    CHECK(pthread_getcpuclockid(pthread_self(), &mine) == 0);
    CHECK(cpu_ns(mine) >= 0 && cpu_ns(mine) < spent_ns);
    return arg;
}

static void *forks_young(void *arg)
{
    pid_t child;
    int status;

    spend_cpu();
    child = fork();
    if (child == 0) {
        is_young(arg);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return arg;
}

static void *spends(void *arg)
{
    int64_t begin = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

    spend_cpu();
    spent_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    return arg;
}

static void clocks(void)
{
    for (int i = 0; i < 2; i++) {
        join(start(spends, NULL));
        join(start(is_young, NULL));
        join(start(forks_young, NULL));
        join(start(is_young, NULL));
    }
}

static volatile sig_atomic_t died;

static void handle(int signal)
{
    died = signal;
}

/* A child may ask for a signal when the thread that made it ends. */
static void *makes_child(void *arg)
{
    int ready[2];
    char byte;
    pid_t child;

    CHECK(pipe(ready) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    *(pid_t *)arg = child;
    return arg;
}

static void *makes_process(void *arg)
{
    char *const words[] = {"/bin/true", NULL};
    pid_t child = vfork();
    int status;

    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(posix_spawn(&child, words[0], NULL, NULL, words, NULL) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return arg;
}

static void processes(void)
{
    for (int i = 0; i < 5; i++) {
        pid_t child;
        int status;

        join(start(makes_child, &child));
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        join(start(makes_process, NULL));
    }
}

static void *detaches_and_forks(void *arg)
{
    pid_t child;
    int status;

    CHECK(pthread_detach(pthread_self()) == 0);
    child = fork();
    if (child == 0) {
        pthread_attr_t attr;
        int state;

        CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
        CHECK(pthread_attr_getdetachstate(&attr, &state) == 0 && state == PTHREAD_CREATE_DETACHED);
        join(start(same, NULL));
        pthread_exit(NULL);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    sem_post(arg);
    return NULL;
}

static void detached(void)
{
    pthread_attr_t attr;
    sem_t done;

    sem_init(&done, 0, 0);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;

        start(detaches_and_forks, &done);
        CHECK(sem_wait(&done) == 0);
        CHECK(pthread_create(&thread, &attr, same, NULL) == 0);
    }
}

static void *has_stack(void *arg)
{
    pthread_attr_t attr;
    size_t size;
    void *low;

    CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
    CHECK(pthread_attr_getstack(&attr, &low, &size) == 0);
    CHECK((char *)&attr > (char *)low && (char *)&attr < (char *)low + size);
    if (arg) {
        const pthread_attr_t *asked = arg;
        size_t wanted;
        void *place;

        CHECK(pthread_attr_getstack(asked, &place, &wanted) == 0);
        CHECK(size == wanted && ((uintptr_t)place + wanted == 0 || low == place));
    }
    pthread_attr_destroy(&attr);
    return arg;
}

static void stacks(void)
{
    size_t sizes[] = {PTHREAD_STACK_MIN, 65536, 1 << 20, (1 << 20) + 4096 * 3};
    pthread_attr_t attr;
    pthread_t thread;
    void *own, *asked = &attr;

    CHECK(posix_memalign(&own, 4096, 1 << 20) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, sizes[i % 4]);
        CHECK(pthread_create(&thread, &attr, has_stack, asked) == 0);
        CHECK(join(thread) == &attr);
        pthread_attr_setstack(&attr, own, 1 << 20);
        CHECK(pthread_create(&thread, &attr, has_stack, asked) == 0);
        CHECK(join(thread) == &attr);
        memset(own, i, 1 << 20); /* nobody runs on it any more */
        pthread_attr_destroy(&attr);
        join(start(has_stack, NULL));
    }
}

static atomic_bool enough;

static void *goes_deep(void *arg)
{
    volatile char deep[4 << 20];

    for (size_t i = 0; i < sizeof(deep); i += 4096)
        deep[i] = 1;
    return (void *)((uintptr_t)arg + (uintptr_t)deep[4096] - 1);
}

/* Its stack lies beside those of the threads that went deep. */
static void *keeps_content(void *arg)
{
    unsigned char content[4 << 20];

    memset(content, 0x5a, sizeof(content));
    while (!atomic_load(&enough))
        usleep(1000);
    for (size_t i = 0; i < sizeof(content); i++)
        CHECK(content[i] == 0x5a);
    return arg;
}

static void depths(void)
{
    pthread_t deep[4], kept[4];

    for (int round = 0; round < 3; round++) {
        atomic_store(&enough, false);
        for (int i = 0; i < 4; i++) {
            deep[i] = start(goes_deep, NULL);
            kept[i] = start(keeps_content, NULL);
        }
        for (int i = 0; i < 4; i++)
            join(deep[i]);
        usleep(50000); /* long enough for a parked thread to give its stack back */
        atomic_store(&enough, true);
        for (int i = 0; i < 4; i++)
            join(kept[i]);
    }
}

static void *waits_for_enough(void *arg)
{
    while (!atomic_load(&enough))
        usleep(1000);
    return arg;
}

/* More threads at a time than the pool has places for. */
static void crowds(void)
{
    enum { MANY = 300 };
    static pthread_t threads[MANY];

    for (int round = 0; round < 2; round++) {
        atomic_store(&enough, false);
        for (intptr_t i = 0; i < MANY; i++)
            threads[i] = start(waits_for_enough, (void *)i);
        atomic_store(&enough, true);
        for (intptr_t i = 0; i < MANY; i++)
            CHECK(join(threads[i]) == (void *)i);
    }
}

static void *ends_by_number(void *arg)
{
    syscall(SYS_exit, 0);
    return arg;
}

/* A thread may end past every library; pthread_join returns all the same. */
static void ends_unseen(void)
{
    for (int i = 0; i < 3; i++) {
        park_some();
        CHECK(pthread_join(start(ends_by_number, NULL), NULL) == 0);
        join(start(same, NULL));
    }
}

static int thrd_routine(void *arg)
{
    return (int)(intptr_t)arg;
}

static void c11_threads(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        thrd_t one;
        int result;

        CHECK(thrd_create(&one, thrd_routine, (void *)(intptr_t)i) == thrd_success);
        CHECK(thrd_join(one, &result) == thrd_success && result == i);
        CHECK(thrd_create(&one, thrd_routine, NULL) == thrd_success);
        CHECK(thrd_detach(one) == thrd_success);
        join(start(same, NULL));
    }
}

static void *exits(void *arg)
{
    exit(*(int *)arg);
}

static void says_goodbye(void)
{
    join(start(same, NULL));
    CHECK(write(STDOUT_FILENO, "goodbye\n", 8) == 8);
}

static void exit_from_thread(void)
{
    int status = 0;

    atexit(says_goodbye);
    park_some();
    start(exits, &status);
    for (;;)
        pause();
}

static void executes(void)
{
    char *const words[] = {"/bin/true", NULL};

    park_some();
    execv(words[0], words);
}

static void *executes_too(void *arg)
{
    executes();
    return arg;
}

static void executes_from_thread(void)
{
    park_some();
    join(start(executes_too, NULL));
    _exit(1);
}

/* The address space is full: threads that wait must not be what fills it. */
static void limits(void)
{
    struct rlimit most = {.rlim_cur = 1UL << 30, .rlim_max = RLIM_INFINITY};

    park_some();
    CHECK(setrlimit(RLIMIT_AS, &most) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct timespec moment = {.tv_nsec = 2000000};
        void *block;

        join(start(same, NULL));
        nanosleep(&moment, NULL);
        if (i < 2)
            continue;
        block = malloc(700 << 20);
        CHECK(block);
        free(block);
    }
}

/* Parked threads leave after a while, and come again. */
static void pauses(void)
{
    for (int i = 0; i < 2; i++) {
        struct timespec long_enough = {.tv_sec = 1, .tv_nsec = 200000000};

        park_some();
        nanosleep(&long_enough, NULL);
    }
    park_some();
}

static atomic_int balance;

static void *mixes(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < 200; i++) {
        pthread_t thread = start(same, (void *)(intptr_t)i);

        switch (rand_r(&seed) % 6) {
        case 0:
            CHECK(pthread_detach(thread) == 0);
            break;
        case 1: {
            void *result;

            CHECK(pthread_cancel(thread) == 0);
            result = join(thread);
            CHECK(result == PTHREAD_CANCELED || result == (void *)(intptr_t)i);
            break;
        }
        case 2: {
            int err = pthread_kill(thread, 0);

            CHECK(err == 0);
            CHECK(join(thread) == (void *)(intptr_t)i);
            break;
        }
        default:
            CHECK(join(thread) == (void *)(intptr_t)i);
        }
        atomic_fetch_add(&balance, 1);
    }
    return arg;
}

static void mixtures(void)
{
    pthread_t threads[6];

    signal(SIGUSR1, handle);
    for (intptr_t i = 0; i < 6; i++)
        threads[i] = start(mixes, (void *)(i + 1));
    for (int i = 0; i < 6; i++)
        join(threads[i]);
    CHECK(atomic_load(&balance) == 1200);
}

static const struct named_case cases[] = {{"identity", identity},
                                          {"error-numbers", error_numbers},
                                          {"signal-stack", signal_stack},
                                          {"cancel-type", cancel_type},
                                          {"affinity-of-process", affinity_of_process},
                                          {"affinity-of-thread", affinity_of_thread},
                                          {"affinity-by-number", affinity_by_number},
                                          {"affinity-of-creator", affinity_of_creator},
                                          {"policy", policy},
                                          {"arithmetic", arithmetic},
                                          {"controls", controls},
                                          {"filters", filters},
                                          {"privileges", privileges},
                                          {"folders", folders},
                                          {"libraries", libraries},
                                          {"destructors", destructors},
                                          {"clocks", clocks},
                                          {"processes", processes},
                                          {"detached", detached},
                                          {"stacks", stacks},
                                          {"depths", depths},
                                          {"crowds", crowds},
                                          {"ends-unseen", ends_unseen},
                                          {"c11-threads", c11_threads},
                                          {"exit-from-thread", exit_from_thread},
                                          {"executes", executes},
                                          {"executes-from-thread", executes_from_thread},
                                          {"limits", limits},
                                          {"pauses", pauses},
                                          {"mixtures", mixtures},
                                          {NULL, NULL}};

int main(int argc, char **argv)
{
    folder = argc > 2 ? argv[2] : ".";
    return run_case(cases, argv[1]);
}
