/* SPDX-License-Identifier: Apache-2.0 */
/* The probe's commands that do what is unusual but legal: each runs without fault under glibc
 * alone. */
#include "probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/mempolicy.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_BYTES (16 * PAGE)

/* A file of the byte 'f' whose name is gone already. */
static int foreign_file(void)
{
    char name[] = "/tmp/okosu-foreign-XXXXXX", text[PAGE];
    int fd = mkstemp(name);
    size_t i;

    CHECK(fd >= 0 && unlink(name) == 0);
    memset(text, 'f', PAGE);
    for (i = 0; i < FILE_BYTES; i += PAGE)
        CHECK(write(fd, text, PAGE) == (ssize_t)PAGE);
    return fd;
}

static bool is_unharmed(int fd, size_t length)
{
    char text[PAGE];
    size_t i, k;

    for (i = 0; i < length; i += PAGE) {
        CHECK(pread(fd, text, PAGE, (off_t)i) == (ssize_t)PAGE);
        for (k = 0; k < PAGE; k++) {
            if (text[k] != 'f')
                return false;
        }
    }
    return true;
}

/* Attaches a segment of shared memory over part of a block, which holds it for ever after. */
static void attach(char *at, size_t length)
{
    int id = shmget(IPC_PRIVATE, length, IPC_CREAT | 0600);

    CHECK(id >= 0 && shmat(id, at, SHM_REMAP) == at && shmctl(id, IPC_RMID, NULL) == 0);
}

/* By libnuma's function where something has it, as libnuma itself does. Containers may forbid it. */
static void bind_to_node(char *at, size_t length)
{
    long (*mbind)(void *, unsigned long, int, const unsigned long *, unsigned long, unsigned);
    void *found = dlsym(RTLD_DEFAULT, "mbind");
    unsigned long node = 1;
    long err;

    memcpy(&mbind, &found, sizeof mbind);
    if (mbind)
        err = mbind(at, length, MPOL_BIND, &node, 64, 0);
    else
        err = syscall(SYS_mbind, at, length, MPOL_BIND, &node, 64, 0);
    CHECK(err == 0 || errno == EPERM || errno == ENOSYS);
}

static bool is_bound(const char *at)
{
    int mode = MPOL_DEFAULT;

    return syscall(SYS_get_mempolicy, &mode, NULL, 0, at, MPOL_F_ADDR) == 0 && mode == MPOL_BIND;
}

static void change(const char *how, char *at, size_t length, int fd)
{
    char *other;

    if (strcmp(how, "file") == 0) {
        CHECK(mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at);
    } else if (strcmp(how, "raw") == 0) {
        CHECK((char *)syscall(SYS_mmap, at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                              fd, 0L) == at);
    } else if (strcmp(how, "raw-none") == 0) {
        CHECK(syscall(SYS_mprotect, at, length, PROT_NONE) == 0);
    } else if (strcmp(how, "moved") == 0) {
        other = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        CHECK(other != MAP_FAILED);
        CHECK(mremap(other, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
    } else if (strcmp(how, "moved-away") == 0) {
        CHECK(mremap(at, length, 2 * length, MREMAP_MAYMOVE) != MAP_FAILED);
    } else if (strcmp(how, "none") == 0) {
        CHECK(mprotect(at, length, PROT_NONE) == 0);
    } else if (strcmp(how, "unmapped") == 0) {
        CHECK(munmap(at, length) == 0);
    } else if (strcmp(how, "shm") == 0) {
        attach(at, length);
    } else if (strcmp(how, "bound") == 0) {
        bind_to_node(at, length);
    } else {
        CHECK(strcmp(how, "no-fork") == 0);
        CHECK(madvise(at, length, MADV_DONTFORK) == 0);
    }
}

/* Changes pages in the middle of blocks of that many MiB in the way that is named, frees the
 * blocks, and uses new ones of the same size. glibc unmaps every block that was mapped for itself,
 * so that none of this reaches the next one; by itself it maps every block above 32 MiB, and mallopt
 * makes that of smaller ones too. */
static int foreign(int argc, char **argv)
{
    size_t size, i;
    int fd = foreign_file(), turn, status;
    char *p, *at;
    pid_t pid;

    CHECK(argc == 3);
    size = (size_t)atoi(argv[2]) * MIB;
    CHECK(size > 32 * MIB || mallopt(M_MMAP_THRESHOLD, (int)MIB) == 1);
    for (turn = 0; turn < 3; turn++) {
        p = malloc(size);
        CHECK(p);
        memset(p, 1, size);
        at = p + size / 2;
        at += -(uintptr_t)at % PAGE;
        change(argv[1], at, FILE_BYTES, fd);
        free(p);
        for (i = 0; i < 3; i++) {
            p = i ? malloc(size) : calloc(1, size);
            CHECK(p && (i || (p[size / 2] == 0 && p[size - 1] == 0)));
            memset(p, 2, size);
            pid = fork();
            if (pid == 0) {
                memset(p, 3, size);
                _exit(0);
            }
            CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
            CHECK(status == 0);
            CHECK(p[size / 2 + 2 * PAGE] == 2);
            for (at = p; at < p + size; at += FILE_BYTES)
                CHECK(!is_bound(at));
            free(p);
        }
    }
    CHECK(is_unharmed(fd, FILE_BYTES));
    return 0;
}

/* Grows a block that holds pages of a file, whole units of 2 MiB among them, so that it has to move,
 * and uses the place it leaves and the one it gets. */
static int foreign_growth(int argc, char **argv)
{
    size_t size = 33 * MIB, length = 7 * MIB;
    int fd = foreign_file();
    char *p = malloc(size), *wall = malloc(size), *at, *q;

    CHECK(argc == 2 && p && wall && ftruncate(fd, (off_t)length) == 0);
    memset(p, 1, size);
    at = p + 5 * MIB;
    at += -(uintptr_t)at % PAGE;
    change(argv[1], at, length, fd);
    memset(at, 'f', length);
    p = realloc(p, 3 * size);
    CHECK(p && p[0] == 1 && p[size - 1] == 1 && p[5 * MIB + PAGE] == 'f' && p[10 * MIB] == 'f');
    q = malloc(size);
    CHECK(q);
    memset(q, 2, size);
    memset(p, 3, 3 * size);
    free(q);
    free(p);
    free(wall);
    CHECK(is_unharmed(fd, length));
    return 0;
}

static volatile int lives;

static void *allocate_while_cancelled(void *arg)
{
    char *p;

    CHECK(pthread_cancel(pthread_self()) == 0);
    p = malloc(4 * MIB);
    CHECK(p);
    p = realloc(p, 9 * MIB);
    CHECK(p);
    free(p);
    lives = 1;
    pthread_testcancel();
    return arg;
}

/* malloc is no cancellation point (POSIX.1-2017, 2.9.5.2), not even the first one of its size. */
static int cancelled(int argc, char **argv)
{
    pthread_t thread;
    void *result;

    (void)argc, (void)argv;
    alarm(600); /* a lock that the thread held would otherwise hang the test */
    CHECK(pthread_create(&thread, NULL, allocate_while_cancelled, NULL) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(lives);
    free(malloc(4 * MIB));
    return 0;
}

static void *exit_while_cancelled(void *arg)
{
    CHECK(pthread_cancel(pthread_self()) == 0);
    _exit(3);
    return arg;
}

/* Nor is _exit a cancellation point. */
static int cancelled_exit(int argc, char **argv)
{
    pthread_t thread;

    (void)argc, (void)argv;
    CHECK(pthread_create(&thread, NULL, exit_while_cancelled, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return 9;
}

/* Allows what exit() itself, memory and fork need, and ends the process at any other system call.
 * The filter is installed by the function that is named. Then "fork" has a child, "late" the first
 * of all large blocks. */
static int strict(int argc, char **argv)
{
#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read),
        ALLOW(SYS_write),
        ALLOW(SYS_rt_sigreturn),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_mmap),
        ALLOW(SYS_munmap),
        ALLOW(SYS_mremap),
        ALLOW(SYS_madvise),
        ALLOW(SYS_brk),
        ALLOW(SYS_clone),
        ALLOW(SYS_set_robust_list),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_wait4),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};

    int (*load)(void *);
    const char *what = argc > 2 ? argv[2] : "";
    void *found, *block = malloc(strcmp(what, "late") ? 4 * MIB : 1);

    CHECK(block && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    free(block);
    if (argc > 1 && strcmp(argv[1], "prctl") == 0) {
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
    } else {
        found = dlsym(RTLD_DEFAULT, "seccomp_load");
        CHECK(found);
        memcpy(&load, &found, sizeof load);
        CHECK(load(&filter) == 0);
    }
    block = malloc(4 * MIB);
    CHECK(block);
    free(block);
    if (strcmp(what, "fork") == 0) {
        pid_t pid = fork();
        int status;

        if (pid == 0)
            exit(0);
        CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    }
    return 0;
}

/* A pointer is resolved when the program is loaded: ld.so, asked for a function at its first call,
 * saves all vector registers on the stack. */
static void (*volatile const leave)(int) = _exit;

static void leave_at_once(int signal)
{
    (void)signal;
    leave(3);
}

/* Ends on an alternate signal stack of 4 KiB, or of the little more that this machine's vector
 * registers need, with a page behind it that faults. */
static int small_stack(int argc, char **argv)
{
    size_t least = getauxval(AT_MINSIGSTKSZ) + 2048, size = least < PAGE ? PAGE : least, room;
    struct sigaction action = {.sa_handler = leave_at_once, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_size = size};
    char *p;

    (void)argc, (void)argv;
    room = (size + PAGE - 1) & ~(PAGE - 1);
    p = mmap(NULL, PAGE + room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED && mprotect(p, PAGE, PROT_NONE) == 0);
    stack.ss_sp = p + PAGE;
    CHECK(sigaltstack(&stack, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    raise(SIGUSR1);
    return 9;
}

static void *try_memalign(size_t size)
{
    return memalign(4096, size);
}

static void *try_aligned_alloc(size_t size)
{
    return aligned_alloc(4096, size);
}

static void *try_posix_memalign(size_t size)
{
    void *p = NULL;

    return posix_memalign(&p, 4096, size) == 0 ? p : NULL;
}

/* A request that fits the limit of the address space, but only without what freed blocks and the
 * reserved address space of large blocks take of it. */
static int limited_aligned(int argc, char **argv)
{
    static void *(*const tries[])(size_t) = {try_memalign, try_aligned_alloc, try_posix_memalign,
                                             valloc, pvalloc};
    struct rlimit limit = {600 * MIB, 600 * MIB};
    void *p;

    CHECK(argc == 2);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    free(malloc(8 * MIB));
    p = tries[atoi(argv[1])](520 * MIB);
    CHECK(p);
    memset(p, 1, 4096);
    free(p);
    return 0;
}

/* Calls the C23 functions, where the libraries have them. */
static int sized(int argc, char **argv)
{
    void (*by_size)(void *, size_t), (*by_align)(void *, size_t, size_t);
    void *a = dlsym(RTLD_DEFAULT, "free_sized"), *b = dlsym(RTLD_DEFAULT, "free_aligned_sized");
    int i;

    (void)argc, (void)argv;
    CHECK(a && b);
    memcpy(&by_size, &a, sizeof by_size);
    memcpy(&by_align, &b, sizeof by_align);
    for (i = 0; i < 3; i++) {
        by_size(malloc(33 * MIB), 33 * MIB);
        by_size(malloc(100), 100);
        by_align(aligned_alloc(4096, 4 * MIB), 4096, 4 * MIB);
        by_align(aligned_alloc(64, 64), 64, 64);
        by_size(NULL, 0);
        by_align(NULL, 64, 0);
    }
    return 0;
}

/* Prints the resident memory before and after malloc_trim, in kB, and what malloc_trim returned. */
static int trimmed(int argc, char **argv)
{
    char *p = malloc(100 * MIB);
    volatile char *bytes = p;
    long before;
    size_t i;
    int given;

    (void)argc, (void)argv;
    CHECK(p);
    for (i = 0; i < 100 * MIB; i += PAGE)
        bytes[i] = 1;
    free(p);
    before = proc_kb("/proc/self/smaps_rollup", "Rss:");
    given = malloc_trim(0);
    printf("%ld %ld %d\n", before, proc_kb("/proc/self/smaps_rollup", "Rss:"), given);
    return 0;
}

static volatile int done;

static void *change_environment(void *arg)
{
    char name[32];
    int i;

    for (i = 0; !done; i++) {
        snprintf(name, sizeof name, "NAME_%d", i % 3000);
        CHECK(setenv(name, "value", 1) == 0);
        if (i % 3000 == 2999)
            CHECK(clearenv() == 0);
    }
    return arg;
}

/* Allocates while another thread changes the environment. */
static int changing_environment(int argc, char **argv)
{
    pthread_t thread;
    int i;

    (void)argc, (void)argv;
    CHECK(pthread_create(&thread, NULL, change_environment, NULL) == 0);
    for (i = 0; i < 3000; i++) {
        char *p = malloc(2 * MIB + (size_t)(i % 7) * MIB);

        CHECK(p);
        p[0] = 1;
        free(p);
    }
    done = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}

/* Calls what the preloaded library of that name defines. */
static int library(int argc, char **argv)
{
    int (*run)(void);
    void *symbol;

    CHECK(argc == 2);
    symbol = dlsym(RTLD_DEFAULT, argv[1]);
    CHECK(symbol);
    memcpy(&run, &symbol, sizeof run);
    return run();
}

const struct command legal_commands[] = {
    {"foreign", foreign},
    {"foreign-growth", foreign_growth},
    {"cancelled", cancelled},
    {"cancelled-exit", cancelled_exit},
    {"strict", strict},
    {"small-stack", small_stack},
    {"limited-aligned", limited_aligned},
    {"sized", sized},
    {"trimmed", trimmed},
    {"changing-environment", changing_environment},
    {"library", library},
    {NULL, NULL},
};
