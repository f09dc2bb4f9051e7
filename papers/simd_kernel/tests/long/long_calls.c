// SPDX-License-Identifier: Apache-2.0
// Counts by breakpoints how often a program executes instructions of its own for long blocks.
//
//     long_calls OUT LEAST ADDRESS... -- PROGRAM ARGUMENT...
//
// writes a line "ADDRESS COUNT" each to OUT when PROGRAM has ended: how often the instruction at
// ADDRESS (hexadecimal) was reached with LEAST or more in %rdx, a function's third argument. It
// ends as PROGRAM does. Only the process itself is looked at, not its children, which it may trace
// itself. PROGRAM must not be position-independent, and no instruction at an ADDRESS may be a
// string instruction, of which one step is one byte.

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    int3 = 0xcc,
    most = 16,
};

struct place {
    unsigned long address;
    uint64_t count;
    uint8_t byte;
};

static struct place places[most];
static int number;
static unsigned long least;
static pid_t child;
// Signals that came while an instruction was stepped over.
static int held[most], holding;

static void fail(const char *what)
{
    fprintf(stderr, "long_calls: %s: %s\n", what, strerror(errno));
    if (child > 0)
        kill(child, SIGKILL);
    exit(125);
}

static void trace(int request, unsigned long address, unsigned long data)
{
    if (ptrace(request, child, address, data))
        fail("ptrace");
}

static int wait_for(void)
{
    int status;

    while (waitpid(child, &status, __WALL) < 0)
        if (errno != EINTR)
            fail("waitpid");
    return status;
}

// Exchanges the byte at a place for the one that the place holds, of which one is the breakpoint.
static void exchange(struct place *p)
{
    unsigned long word;

    errno = 0;
    word = (unsigned long)ptrace(PTRACE_PEEKTEXT, child, p->address, 0);
    if (errno)
        fail("no code at an address");
    trace(PTRACE_POKETEXT, p->address, (word & ~0xffUL) | p->byte);
    p->byte = (uint8_t)word;
}

// Sets the breakpoints if the process's program is this file; it was another one's image before.
static void set_all(const char *program)
{
    struct stat ours, its;
    char path[32];

    snprintf(path, sizeof path, "/proc/%d/exe", child);
    if (stat(program, &ours) || stat(path, &its))
        fail(program);
    if (ours.st_dev != its.st_dev || ours.st_ino != its.st_ino)
        return;
    for (int i = 0; i < number; i++) {
        places[i].byte = int3;
        exchange(&places[i]);
    }
}

static struct place *reached(struct user_regs_struct *regs)
{
    siginfo_t info;

    trace(PTRACE_GETSIGINFO, 0, (unsigned long)&info);
    if (info.si_code != SI_KERNEL)
        return NULL;
    trace(PTRACE_GETREGS, 0, (unsigned long)regs);
    for (int i = 0; i < number; i++)
        if (regs->rip - 1 == places[i].address)
            return &places[i];
    return NULL;
}

// Counts, executes the instruction that the breakpoint stands in place of, and returns how the
// process is then.
static int step_over(struct place *p, struct user_regs_struct *regs)
{
    int status;

    p->count += regs->rdx >= least;
    regs->rip--;
    trace(PTRACE_SETREGS, 0, (unsigned long)regs);
    exchange(p);
    for (;;) {
        trace(PTRACE_SINGLESTEP, 0, 0);
        status = wait_for();
        if (!WIFSTOPPED(status))
            return status;
        if (WSTOPSIG(status) == SIGTRAP)
            break;
        if (holding == most)
            fail("too many signals at once");
        held[holding++] = WSTOPSIG(status);
    }
    exchange(p);
    return status;
}

static int go_on(int signal)
{
    // One signal goes with the process, the others come to it afterwards.
    while (holding) {
        if (signal)
            kill(child, signal);
        signal = held[--holding];
    }
    trace(PTRACE_CONT, 0, (unsigned long)signal);
    return wait_for();
}

static int follow(const char *program)
{
    struct user_regs_struct regs;
    int status = wait_for();

    if (!WIFSTOPPED(status))
        return status;
    // From the first stop, which is that of exec().
    trace(PTRACE_SETOPTIONS, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC);
    set_all(program);
    status = go_on(0);
    while (WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status);
        struct place *p;

        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
            set_all(program);
            signal = 0;
        } else if (signal == SIGTRAP && (p = reached(&regs))) {
            status = step_over(p, &regs);
            if (!WIFSTOPPED(status))
                break;
            signal = 0;
        }
        status = go_on(signal);
    }
    return status;
}

static void print(const char *path)
{
    FILE *out = fopen(path, "w");

    if (!out)
        fail(path);
    for (int i = 0; i < number; i++)
        fprintf(out, "%lx %" PRIu64 "\n", places[i].address, places[i].count);
    if (fclose(out))
        fail(path);
}

static unsigned long parsed(const char *word, int base)
{
    char *end;
    unsigned long value = strtoul(word, &end, base);

    errno = EINVAL;
    if (*end || end == word)
        fail(word);
    return value;
}

int main(int argc, char **argv)
{
    int status, i = 3;

    if (argc < 3)
        return 2;
    least = parsed(argv[2], 10);
    for (; i < argc && strcmp(argv[i], "--"); i++) {
        if (number == most)
            return 2;
        places[number++].address = parsed(argv[i], 16);
    }
    if (i + 1 >= argc)
        return 2;
    argv += i + 1;
    child = fork();
    if (child < 0)
        fail("fork");
    if (!child) {
        if (!ptrace(PTRACE_TRACEME, 0, 0, 0))
            execv(argv[0], argv);
        fail(argv[0]);
    }
    status = follow(argv[0]);
    print(argv[-i]);
    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
    return WEXITSTATUS(status);
}
