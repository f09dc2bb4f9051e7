/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of legal_stress that make processes, each of which checks its memory, and has
 * restrictions that a program may ask for. */
#include "legal_stress.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void wait_for(pid_t child)
{
    int status;

    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child && !status);
}

/* What the child of a fork does is `live`. */
static void use_child(struct world *world, void (*live)(struct world *))
{
    pid_t child = fork();

    if (!child) {
        live(world);
        fflush(stdout);
        _exit(0);
    }
    wait_for(child);
}

static void live_plainly(struct world *world)
{
    check_blocks(world);
    check_regions(world);
    world->alone = true;
    live_in_child(world, 8);
}

static void use_fork(struct world *world)
{
    use_child(world, live_plainly);
}

static void *work_in_library(void *taken)
{
    library_work(taken);
    return NULL;
}

/* A thread has the library's mutex for which the fork waits, and then allocates. */
static void use_fork_handlers(struct world *world)
{
    volatile bool taken = false;
    pthread_t thread;
    pid_t child;

    CHECK(!pthread_create(&thread, NULL, work_in_library, (void *)&taken));
    while (!taken)
        sched_yield();
    child = fork();
    if (!child) {
        free(malloc(2 * MIB));
        check_blocks(world);
        _exit(0);
    }
    wait_for(child);
    CHECK(!pthread_join(thread, NULL));
}

extern char **environ;

/* The child executes this program again. */
static void use_exec(struct world *world)
{
    char seed[24], *arguments[] = {"legal_stress", "check", seed, NULL};
    pid_t child;

    snprintf(seed, sizeof seed, "%zu", 1 + below(world, 1000000));
    if (below(world, 2)) {
        CHECK(!posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ));
    } else {
        child = vfork();
        if (!child) {
            execv("/proc/self/exe", arguments);
            _exit(1);
        }
    }
    wait_for(child);
}

/* No fork handler runs, so that it may not allocate. */
static int look(void *arg)
{
    check_blocks(arg);
    check_regions(arg);
    _exit(0);
}

/* Of a child with its own memory, or with its parent's while that waits. */
static void use_clone(struct world *world)
{
    int flags = below(world, 2) ? SIGCHLD : CLONE_VM | CLONE_VFORK | SIGCHLD;
    unsigned char *stack = malloc(STACK_BYTES);

    CHECK(stack);
    wait_for(clone(look, stack + STACK_BYTES, flags, world));
    free(stack);
}

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))

static void restrict_calls(struct sock_filter *rules, size_t count)
{
    struct sock_fprog filter = {(unsigned short)count, rules};

    CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

/* It only uses the memory that it has. */
static void live_by_killing_filter(struct world *world)
{
    struct sock_filter rules[] = {
        LOAD,
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_rt_sigreturn),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };

    restrict_calls(rules, sizeof rules / sizeof *rules);
    check_blocks(world);
    check_regions(world);
}

static void use_killing_filter(struct world *world)
{
    use_child(world, live_by_killing_filter);
}

/* It goes on with what this program and libc call, and any other call fails. */
static void live_by_refusing_filter(struct world *world)
{
    struct sock_filter rules[] = {
        LOAD,
        ALLOW(SYS_mmap),
        ALLOW(SYS_munmap),
        ALLOW(SYS_mremap),
        ALLOW(SYS_mprotect),
        ALLOW(SYS_madvise),
        ALLOW(SYS_brk),
        ALLOW(SYS_mlock),
        ALLOW(SYS_futex),
        ALLOW(SYS_pread64),
        ALLOW(SYS_write),
        ALLOW(SYS_getrandom),
        ALLOW(SYS_rt_sigaction),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_rt_sigreturn),
#ifdef SYS_alarm
        ALLOW(SYS_alarm),
#endif
        ALLOW(SYS_setitimer),
        ALLOW(SYS_exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };

    restrict_calls(rules, sizeof rules / sizeof *rules);
    live_plainly(world);
}

static void use_refusing_filter(struct world *world)
{
    use_child(world, live_by_refusing_filter);
}

/* The address space may grow by what the blocks need, and no file can be opened. */
static void live_by_limits(struct world *world)
{
    struct rlimit space, files = {3, 3}, locked = {16 * PAGE, 16 * PAGE};
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "re");

    CHECK(file && fscanf(file, "%lu", &pages) == 1);
    CHECK(!fclose(file));
    space.rlim_cur = space.rlim_max = pages * PAGE + 512 * MIB;
    CHECK(!setrlimit(RLIMIT_AS, &space) && !setrlimit(RLIMIT_NOFILE, &files));
    CHECK(!setrlimit(RLIMIT_MEMLOCK, &locked));
    live_plainly(world);
}

static void use_limits(struct world *world)
{
    use_child(world, live_by_limits);
}

/* The limit may forbid it, or forbid what blocks come later. */
static void live_locked(struct world *world)
{
    static const int flags[] = {MCL_CURRENT | MCL_ONFAULT, MCL_FUTURE | MCL_ONFAULT, MCL_CURRENT,
                                MCL_FUTURE};
    int which = flags[below(world, 2) + (below(world, 4) ? 0 : 2)];
    void *more;

    world->is_locked = !mlockall(which);
    more = mmap(NULL, 64 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) {
        CHECK(!munlockall());
        world->is_locked = false;
    }
    live_plainly(world);
}

static void use_locks(struct world *world)
{
    use_child(world, live_locked);
}

/* The descriptors that the program opens then are its own: nobody writes to them or closes them. */
static void live_after_closing(struct world *world)
{
    struct pollfd end[8];
    int ends[2];

    CHECK(!syscall(SYS_close_range, 3, ~0u, 0));
    for (size_t i = 0; i < 8; i += 2) {
        CHECK(!pipe(ends));
        end[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
        end[i + 1] = (struct pollfd){.fd = ends[1]};
    }
    make_foreign_file();
    live_plainly(world);
    CHECK(poll(end, 8, 0) == 0);
}

static void use_close_range(struct world *world)
{
    use_child(world, live_after_closing);
}

const struct kind process_kinds[] = {
    {"fork", 30, use_fork},
    {"fork-handlers", 10, use_fork_handlers},
    {"exec", 4, use_exec},
    {"clone", 10, use_clone},
    {"filter-that-kills", 6, use_killing_filter},
    {"filter-that-refuses", 6, use_refusing_filter},
    {"limits", 6, use_limits},
    {"locked-memory", 2, use_locks},
    {"close-range", 6, use_close_range},
    {NULL, 0, NULL},
};
