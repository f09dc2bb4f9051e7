/* SPDX-License-Identifier: Apache-2.0 */
/* The probe's commands about threads, processes and the environment. */
#include "probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

extern char **environ;

static volatile int stop;

static void *churn(void *index)
{
    unsigned tag = (unsigned)(size_t)index;
    size_t size = 2 * MIB;

    while (!stop) {
        char *p = malloc(size);

        CHECK(p);
        fill(p, size, tag);
        CHECK(is_filled(p, size, tag));
        free(p);
        size = 2 * MIB + (size + 300007) % (6 * MIB);
    }
    return NULL;
}

static void wait_for(pid_t pid)
{
    int status;

    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
}

static void use_memory(unsigned tag)
{
    char *p = malloc(3 * MIB), *q = calloc(1, 5 * MIB);

    CHECK(p && q && q[0] == 0 && q[5 * MIB - 1] == 0);
    fill(p, 3 * MIB, tag);
    p = realloc(p, 9 * MIB);
    CHECK(p && is_filled(p, 3 * MIB, tag));
    free(q);
    free(p);
}

static void *use_once(void *index)
{
    use_memory((unsigned)(size_t)index);
    return NULL;
}

/* Forks at any time from a program whose other threads allocate; the child uses what it
 * inherited. */
static int forks(int argc, char **argv)
{
    pthread_t threads[3];
    char *kept = malloc(6 * MIB);
    int i, children = atoi(argv[1]);

    CHECK(argc == 2);
    fill(kept, 6 * MIB, 1);
    for (i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)(size_t)i) == 0);
    for (i = 0; i < children; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            alarm(600); /* a lock left held would otherwise hang the test */
            CHECK(is_filled(kept, 6 * MIB, 1));
            use_memory(7);
            if (i % 4 == 0)
                run_checked(use_once,
                            2); /* a lock that the child's main thread holds stops these */
            fill(kept, 6 * MIB, 2);
            free(kept);
            _exit(0);
        }
        wait_for(pid);
        CHECK(is_filled(kept, 6 * MIB, 1));
    }
    stop = 1;
    for (i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}

static void use_in_handler(void)
{
    use_memory(3);
}

/* Fork handlers that allocate, registered before and after other work. */
static int atfork(int argc, char **argv)
{
    int i;

    (void)argc, (void)argv;
    CHECK(pthread_atfork(use_in_handler, use_in_handler, use_in_handler) == 0);
    use_memory(1);
    for (i = 0; i < 5; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            alarm(600);
            use_memory(2);
            exit(0);
        }
        wait_for(pid);
    }
    return 0;
}

/* The ways of starting a program; each child is `probe exit 0`. */
static int spawns(int argc, char **argv)
{
    char *self = "/proc/self/exe", *args[] = {"probe", "exit", "0", NULL};
    char *p = malloc(4 * MIB);
    pid_t pid;

    (void)argc, (void)argv;
    fill(p, 4 * MIB, 1);
    pid = vfork();
    if (pid == 0) {
        execv(self, args);
        _exit(9);
    }
    wait_for(pid);
    pid = vfork();
    if (pid == 0)
        _exit(0);
    wait_for(pid);
    CHECK(posix_spawn(&pid, self, NULL, NULL, args, environ) == 0);
    wait_for(pid);
    pid = fork();
    if (pid == 0) {
        execve(self, args, environ);
        _exit(9);
    }
    wait_for(pid);
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        if (!is_filled(p, 4 * MIB, 1))
            _exit(9);
        free(p);
        _exit(0);
    }
    wait_for(pid);
    CHECK(system("exit 0") == 0);
    CHECK(is_filled(p, 4 * MIB, 1));
    use_memory(2);
    return 0;
}

static void *on_other_thread(void *load)
{
    int (*call)(void) = *(int (**)(void))load;

    return (void *)(size_t)(call() - 42);
}

/* Loads a library with thread-local data and a constructor that allocates. */
static int load(int argc, char **argv)
{
    void *handle = dlopen(argv[1], RTLD_NOW), *symbol, *result;
    int (*call)(void);
    pthread_t thread;

    CHECK(argc == 2 && handle);
    symbol = dlsym(handle, "check_library");
    CHECK(symbol);
    memcpy(&call, &symbol, sizeof call);
    CHECK(call() == 42);
    CHECK(pthread_create(&thread, NULL, on_other_thread, &call) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == NULL);
    CHECK(dlclose(handle) == 0);
    return 0;
}

/* Leaves nothing of what it was started with: descriptors, directory, environment. */
static int strip(int argc, char **argv)
{
    char *p;
    int fd;

    (void)argc, (void)argv;
    p = malloc(5 * MIB);
    for (fd = 0; fd < 256; fd++)
        close(fd);
    CHECK(chdir("/") == 0);
    clearenv();
    setenv("OKOSU_PROOF", "/dev/full", 1);
    fill(p, 5 * MIB, 1);
    free(p);
    use_memory(4);
    return 0;
}

static int environment(int argc, char **argv)
{
    char **env;

    (void)argc, (void)argv;
    for (env = environ; *env; env++)
        puts(*env);
    fflush(NULL);
    use_memory(1);
    return argc > 1 ? system(argv[1]) : 0;
}

/* Ends in the way that is asked for, having used a large block. */
static int end(int argc, char **argv)
{
    use_memory(1);
    CHECK(argc == 2);
    if (strcmp(argv[1], "_exit") == 0)
        _exit(3);
    if (strcmp(argv[1], "_Exit") == 0)
        _Exit(3);
    if (strcmp(argv[1], "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(argv[1], "kill") == 0)
        raise(SIGKILL);
    exit(atoi(argv[1]));
}

/* Forks once and lets the child end with _exit and a large block in use. */
static int fork_once(int argc, char **argv)
{
    char *p = malloc(4 * MIB);
    pid_t pid;

    (void)argc, (void)argv;
    fill(p, 4 * MIB, 1);
    pid = fork();
    if (pid == 0) {
        use_memory(2);
        fill(p, 4 * MIB, 3);
        _exit(0);
    }
    fill(p, 4 * MIB, 2);
    wait_for(pid);
    CHECK(is_filled(p, 4 * MIB, 2));
    free(p);
    use_memory(4);
    return 0;
}

/* The kernel's word on where a thread may run, past any hook. */
static void print_mask(const char *what)
{
    unsigned long words[128] = {0};
    unsigned cpu;

    CHECK(syscall(SYS_sched_getaffinity, 0, sizeof words, words) > 0);
    printf("%s", what);
    for (cpu = 0; cpu < 8 * sizeof words; cpu++) {
        if (words[cpu / 64] >> cpu % 64 & 1)
            printf(" %u", cpu);
    }
    printf("\n");
    fflush(stdout);
}

static void *print_own_mask(void *what)
{
    print_mask(what);
    return what;
}

static void *leave_early(void *what)
{
    print_mask(what);
    pthread_exit(what);
}

static int print_own_mask_11(void *what)
{
    print_mask(what);
    return 5;
}

static void run_thread(const pthread_attr_t *attr, void *(*routine)(void *), void *what)
{
    pthread_t thread;
    void *result;

    CHECK(pthread_create(&thread, attr, routine, what) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == what);
}

static int mask(int argc, char **argv)
{
    print_mask(argc > 1 ? argv[1] : "mask");
    return 0;
}

/* By each function that replaces a process, in a child of vfork, in which no fork handler runs. */
static void replace(char *how)
{
    char *args[] = {"probe", "mask", how, NULL}, *self = "/proc/self/exe";
    pid_t pid = vfork();

    if (pid == 0) {
        if (strcmp(how, "execv") == 0)
            execv(self, args);
        else if (strcmp(how, "execl") == 0)
            execl(self, args[0], args[1], how, NULL);
        else if (strcmp(how, "execlp") == 0)
            execlp(self, args[0], args[1], how, NULL);
        else if (strcmp(how, "execle") == 0)
            execle(self, args[0], args[1], how, NULL, environ);
        else if (strcmp(how, "fexecve") == 0)
            fexecve(open(self, O_RDONLY | O_CLOEXEC), args, environ);
        else if (strcmp(how, "execveat") == 0)
            execveat(AT_FDCWD, self, args, environ, 0);
        _exit(9);
    }
    wait_for(pid);
}

static int affinity(int argc, char **argv)
{
    char *args[] = {"probe", "mask", NULL, NULL}, *self = "/proc/self/exe";
    pthread_attr_t attr;
    cpu_set_t set;
    thrd_t c11;
    pid_t pid;
    FILE *f;
    int c;

    (void)argc, (void)argv;
    print_mask("main");
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    printf("seen %d\n", CPU_COUNT(&set));
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0);
    printf("seen %d\n", CPU_COUNT(&set));
    run_thread(NULL, print_own_mask, "thread1");
    run_thread(NULL, leave_early, "thread2");
    run_thread(NULL, print_own_mask, "thread3");
    CHECK(thrd_create(&c11, print_own_mask_11, "c11") == thrd_success);
    CHECK(thrd_join(c11, &c) == thrd_success && c == 5);
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    CHECK(pthread_attr_setaffinity_np(&attr, sizeof set, &set) == 0);
    run_thread(&attr, print_own_mask, "own");

    pid = fork();
    if (pid == 0) {
        print_mask("fork");
        run_thread(NULL, print_own_mask, "fork-thread");
        _exit(0);
    }
    wait_for(pid);
    args[2] = "spawn";
    CHECK(posix_spawn(&pid, self, NULL, NULL, args, environ) == 0);
    wait_for(pid);
    for (char *const *how =
             (char *[]){"execv", "execl", "execlp", "execle", "fexecve", "execveat", NULL};
         *how; how++)
        replace(*how);
    f = popen("sed -n 's/^Cpus_allowed_list:/popen/p' /proc/self/status", "r");
    CHECK(f);
    while ((c = getc(f)) != EOF)
        putchar(c);
    CHECK(pclose(f) == 0);
    fflush(stdout);
    CHECK(execv("/nonexistent", args) == -1 && errno == ENOENT);
    CHECK(execl("/nonexistent", "a", NULL) == -1 && errno == ENOENT);
    print_mask("after");
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    printf("set %d\n", CPU_COUNT(&set));
    return 0;
}

/* Thread creation that fails for want of memory must not leave anything behind, and cancellation
 * must reach a thread in its routine. */
static void *wait_for_ever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void *first_block_on_a_small_stack(void *arg)
{
    use_memory(1);
    return arg;
}

static int thread_edges(int argc, char **argv)
{
    pthread_attr_t attr;
    pthread_t thread;
    size_t in_use;
    void *result;
    int i;

    (void)argc, (void)argv;
    CHECK(pthread_attr_init(&attr) == 0);
    CHECK(pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN) == 0);
    run_thread(&attr, first_block_on_a_small_stack, &attr);
    CHECK(pthread_attr_setstacksize(&attr, (size_t)1 << 46) == 0);
    CHECK(pthread_create(&thread, &attr, wait_for_ever, NULL) != 0);
    in_use = mallinfo2().uordblks;
    for (i = 0; i < 100; i++)
        CHECK(pthread_create(&thread, &attr, wait_for_ever, NULL) != 0);
    CHECK(mallinfo2().uordblks == in_use);
    CHECK(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    return 0;
}

const struct command process_commands[] = {
    {"forks", forks},
    {"atfork", atfork},
    {"spawns", spawns},
    {"load", load},
    {"strip", strip},
    {"environ", environment},
    {"exit", end},
    {"fork-once", fork_once},
    {"mask", mask},
    {"affinity", affinity},
    {"thread-edges", thread_edges},
    {NULL, NULL},
};
