/* SPDX-License-Identifier: Apache-2.0 */
/* What okosu-measure is tried on: one small behaviour a name. Exits 0 when the behaviour was as it
 * is untraced. */
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1UL << 20)

extern char **environ;
static char **arguments;

static long number(int index)
{
    return strtol(arguments[index], NULL, 10);
}

static void nap(long milliseconds)
{
    struct timespec left = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    while (nanosleep(&left, &left) && errno == EINTR)
        continue;
}

/* Aligned to 2 MiB, so that all of it can lie on huge pages. */
static char *take(size_t mib, int advice)
{
    char *memory =
        mmap(NULL, (mib + 2) * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        exit(99);
    memory += -(size_t)memory & (2 * MIB - 1);
    if (advice)
        madvise(memory, mib * MIB, advice);
    for (size_t at = 0; at < mib * MIB; at += 4096)
        memory[at] = 1;
    return memory;
}

static int run_end(void)
{
    return (int)number(2);
}

static int run_signal(void)
{
    signal((int)number(2), SIG_DFL);
    raise((int)number(2));
    return 98;
}

static int run_hold(void)
{
    take((size_t)number(2), strcmp(arguments[3], "huge") == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return 0;
}

static int run_free(void)
{
    size_t mib = (size_t)number(2);
    char *memory = take(mib, MADV_NOHUGEPAGE);

    nap(number(3));
    munmap(memory, mib * MIB);
    return 0;
}

static void *leave_from_here(void *unused)
{
    (void)unused;
    exit(7);
}

static int run_thread_exits(void)
{
    pthread_t thread;

    take((size_t)number(2), MADV_NOHUGEPAGE);
    pthread_create(&thread, NULL, leave_from_here, NULL);
    pthread_join(thread, NULL);
    return 98;
}

static void *grow_later(void *unused)
{
    nap(60);
    take((size_t)number(2), MADV_NOHUGEPAGE);
    return unused;
}

_Noreturn static int run_leader_leaves(void)
{
    pthread_t thread;

    for (long i = 0; i < number(3); i++)
        pthread_create(&thread, NULL, grow_later, NULL);
    pthread_exit(NULL);
}

static void *execute(void *unused)
{
    (void)unused;
    if (number(2))
        nap(number(2));
    execv(arguments[0], (char *[]){arguments[0], "hold", arguments[3], "small", NULL});
    exit(98);
}

static int run_thread_executes(void)
{
    pthread_t thread;

    take(32, MADV_NOHUGEPAGE);
    pthread_create(&thread, NULL, execute, NULL);
    pthread_join(thread, NULL);
    return 98;
}

/* An untraced thread is traced once the first one has left. */
static void *execute_traced(void *unused)
{
    char line[256];
    int tracer = 0;

    while (!tracer) {
        FILE *status = fopen("/proc/thread-self/status", "re");

        while (status && fgets(line, sizeof(line), status))
            sscanf(line, "TracerPid: %d", &tracer);
        if (status)
            fclose(status);
    }
    return execute(unused);
}

_Noreturn static int run_leader_leaves_then_exec(void)
{
    pthread_t thread;

    take(32, MADV_NOHUGEPAGE);
    pthread_create(&thread, NULL, execute_traced, NULL);
    pthread_exit(NULL);
}

static void *fork_here(void *unused)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        take((size_t)number(2), MADV_NOHUGEPAGE);
        nap(number(3));
        _exit(0);
    }
    waitpid(child, &status, 0);
    return unused;
}

static int run_thread_forks(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, fork_here, NULL);
    pthread_join(thread, NULL);
    return 0;
}

static int run_vforks(void)
{
    take((size_t)number(2), MADV_NOHUGEPAGE);
    for (long i = 0; i < number(3); i++) {
        int status;
        pid_t child = vfork();
        if (child == 0)
            _exit(5);
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5)
            return 98;
    }
    return 0;
}

static int run_forks(void)
{
    for (long i = 0; i < number(3); i++) {
        pid_t child = fork();
        if (child == 0) {
            take((size_t)number(2), MADV_NOHUGEPAGE);
            _exit((int)i);
        }
    }
    for (long i = 0; i < number(3); i++) {
        if (wait(NULL) < 0)
            return 98;
    }
    return 0;
}

static int run_spawns(void)
{
    for (long i = 0; i < number(2); i++) {
        pid_t child;
        int status;
        char *const argv[] = {arguments[0], "end", "3", NULL};
        if (posix_spawn(&child, arguments[0], NULL, NULL, argv, environ))
            return 97;
        if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
            return 98;
    }
    return 0;
}

/* A chain of processes, each in a session of its own, deaf to what can be ignored; each adds its
 * number to a file. */
_Noreturn static int run_stubborn(void)
{
    long depth = number(2);

    for (int i = 1; i < 32; i++) {
        if (i != SIGKILL && i != SIGSTOP && i != SIGCHLD)
            signal(i, SIG_IGN);
    }
    for (;;) {
        FILE *file = fopen(arguments[3], "a");
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
        if (--depth == 0 || fork() != 0)
            break;
        setsid();
    }
    for (;;)
        pause();
}

/* Orphans in sessions of their own add their numbers to a file; the root leaves once all have. */
static int run_leaves_daemons(void)
{
    long count = number(2);

    for (long i = 0; i < count; i++) {
        if (fork() == 0) {
            setsid();
            if (fork() != 0)
                _exit(0);
            FILE *file = fopen(arguments[3], "a");
            fprintf(file, "%d\n", (int)getpid());
            fclose(file);
            for (;;)
                pause();
        }
        wait(NULL);
    }
    for (;;) {
        long lines = 0;
        FILE *file = fopen(arguments[3], "r");
        for (int byte; file && (byte = fgetc(file)) != EOF;)
            lines += byte == '\n';
        if (file)
            fclose(file);
        if (lines == count)
            return 0;
        nap(1);
    }
}

static void *pin_here(void *index)
{
    cpu_set_t inherited, one;
    long nth = (long)index;

    sched_getaffinity(0, sizeof(inherited), &inherited);
    nth %= CPU_COUNT(&inherited);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &inherited) && nth-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof(one), &one);
        }
    }
    nap(number(3));
    return NULL;
}

static int run_threads(void)
{
    pthread_t threads[256];

    for (long i = 0; i < number(2); i++)
        pthread_create(&threads[i], NULL, pin_here, (void *)i);
    for (long i = 0; i < number(2); i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* The name as pairs of hexadecimal digits. */
static int run_name(void)
{
    char name[16] = {0};

    for (size_t i = 0; i < 15 && arguments[2][2 * i]; i++)
        sscanf(arguments[2] + 2 * i, "%2hhx", (unsigned char *)&name[i]);
    prctl(PR_SET_NAME, name);
    return 0;
}

/* Job control between a parent and its child: each change of state is reported once, and nothing
 * else. */
static int run_stops(void)
{
    int status, seen[2];
    char byte = 0;
    pid_t child;

    if (pipe(seen))
        return 90;
    child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        /* A second stop would replace the report that the child has continued. */
        if (read(seen[0], &byte, 1) != 1)
            _exit(5);
        raise(SIGTSTP);
        _exit(4);
    }
    /* SIGTSTP stops only where the group is not orphaned; the child shares its parent's group,
     * whose parent differs. */
    if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status) ||
        WSTOPSIG(status) != SIGSTOP)
        return 91;
    if (waitpid(child, &status, WUNTRACED | WNOHANG) != 0)
        return 92;
    kill(child, SIGCONT);
    if (waitpid(child, &status, WCONTINUED) != child || !WIFCONTINUED(status))
        return 93;
    if (write(seen[1], &byte, 1) != 1 || waitpid(child, &status, WUNTRACED) != child)
        return 94;
    if (WIFSTOPPED(status)) {
        kill(child, SIGCONT);
        if (waitpid(child, &status, 0) != child)
            return 95;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 4 ? 0 : 96;
}

static volatile sig_atomic_t ticks, sent;
static volatile int last_code, last_value;

static void on_tick(int signal)
{
    (void)signal;
    ticks++;
}

static void on_value(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    last_code = info->si_code;
    last_value = info->si_value.sival_int;
    sent++;
}

/* Handlers run, siginfo arrives whole, and system calls are restarted as if nobody watched. */
static int run_signals(void)
{
    struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    struct sigaction value = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    int pipes[2];
    char byte = 0;

    sigaction(SIGALRM, &tick, NULL);
    sigaction(SIGRTMIN, &value, NULL);
    sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 12345});
    if (sent != 1 || last_code != SI_QUEUE || last_value != 12345)
        return 91;
    if (pipe(pipes))
        return 92;
    setitimer(ITIMER_REAL, &often, NULL);
    pid_t child = fork();
    if (child == 0) {
        nap(100);
        _exit(write(pipes[1], "x", 1) != 1);
    }
    ssize_t got = read(pipes[0], &byte, 1);
    setitimer(ITIMER_REAL, &never, NULL);
    if (got != 1 || byte != 'x')
        return 93;
    if (ticks < 5)
        return 94;
    /* An ignored signal does not cut a sleep short. */
    struct timespec before, after, pause = {0, 100000000};
    signal(SIGALRM, SIG_IGN);
    setitimer(ITIMER_REAL, &often, NULL);
    clock_gettime(CLOCK_MONOTONIC, &before);
    int slept = nanosleep(&pause, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    setitimer(ITIMER_REAL, &never, NULL);
    if (slept ||
        (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec < 100000000L)
        return 95;
    return waitpid(child, NULL, 0) == child ? 0 : 96;
}

/* Many small mappings, which take long to read at the end. */
static int run_fragments(void)
{
    long count = number(2);
    char *memory = mmap(NULL, (size_t)count * 8192, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        return 99;
    for (long i = 0; i < count; i++) {
        memory[i * 8192] = 1;
        if (mprotect(memory + i * 8192, 4096, PROT_READ))
            return 98;
    }
    return 0;
}

/* Takes its memory from node 0 by policy; 77 where the kernel knows no policies. */
static int run_bind(void)
{
    unsigned long nodes = 1;

    if (syscall(SYS_set_mempolicy, MPOL_BIND, &nodes, 64UL))
        return 77;
    take((size_t)number(2), MADV_NOHUGEPAGE);
    return 0;
}

/* Prints how long its main took, in nanoseconds: memory touched, then a sleep. */
static int run_clock(void)
{
    struct timespec before, after;

    clock_gettime(CLOCK_MONOTONIC, &before);
    take((size_t)number(2), MADV_NOHUGEPAGE);
    nap(number(3));
    clock_gettime(CLOCK_MONOTONIC, &after);
    printf("%ld\n", (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec);
    return 0;
}

static void map_file(int file)
{
    if (file < 0 || mmap(NULL, 1, PROT_READ, MAP_SHARED, file, 0) == MAP_FAILED)
        exit(98);
    close(file);
}

/* Maps the files that it is given; those whose names end in .gone are then removed. */
static int run_map(void)
{
    for (char **name = arguments + 2; *name; name++) {
        char *ending = strrchr(*name, '.');

        map_file(open(*name, O_RDONLY));
        if (ending && strcmp(ending, ".gone") == 0)
            unlink(*name);
    }
    return 0;
}

static int run_map_briefly(void)
{
    char *file = mmap(NULL, 1, PROT_READ, MAP_SHARED, open(arguments[2], O_RDONLY), 0);

    if (file == MAP_FAILED)
        return 98;
    nap(number(3));
    munmap(file, 1);
    return 0;
}

/* Maps that many files of different names. */
static int run_map_many(void)
{
    char name[32];

    for (long i = 0; i < number(2); i++) {
        snprintf(name, sizeof(name), "many-%ld", i);
        int file = memfd_create(name, MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, 1))
            return 97;
        map_file(file);
    }
    return 0;
}

static void *take_name(void *name)
{
    prctl(PR_SET_NAME, name);
    return NULL;
}

/* One thread a name, one after another. */
static int run_named_threads(void)
{
    for (char **name = arguments + 2; *name; name++) {
        pthread_t thread;

        pthread_create(&thread, NULL, take_name, *name);
        pthread_join(thread, NULL);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } behaviours[] = {
        {"end", run_end},
        {"signal", run_signal},
        {"hold", run_hold},
        {"free", run_free},
        {"thread-exits", run_thread_exits},
        {"leader-leaves", run_leader_leaves},
        {"thread-executes", run_thread_executes},
        {"leader-leaves-then-exec", run_leader_leaves_then_exec},
        {"thread-forks", run_thread_forks},
        {"vforks", run_vforks},
        {"forks", run_forks},
        {"spawns", run_spawns},
        {"stubborn", run_stubborn},
        {"leaves-daemons", run_leaves_daemons},
        {"threads", run_threads},
        {"name", run_name},
        {"stops", run_stops},
        {"signals", run_signals},
        {"clock", run_clock},
        {"fragments", run_fragments},
        {"bind", run_bind},
        {"map", run_map},
        {"map-briefly", run_map_briefly},
        {"map-many", run_map_many},
        {"named-threads", run_named_threads},
    };

    arguments = argv;
    for (size_t i = 0; argc > 1 && i < sizeof(behaviours) / sizeof(behaviours[0]); i++) {
        if (strcmp(argv[1], behaviours[i].name) == 0)
            return behaviours[i].run();
    }
    return 97;
}
