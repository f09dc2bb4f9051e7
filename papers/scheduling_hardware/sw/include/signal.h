/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, with Linux's numbers. No signal interrupts a computation: it is delivered when its
 * thread comes to a function of the library that can wait, that yields, or that deals with signals,
 * and it ends such a function's wait. A signal that nobody handles and that is not ignored ends the
 * program with 128 plus its number. There is no job control: nothing stops. */
#ifndef SIGNAL_H
#define SIGNAL_H

#include <pthread.h>
#include <sys/types.h>

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGKILL 9
#define SIGUSR1 10
#define SIGSEGV 11
#define SIGUSR2 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGXCPU 24
#define SIGXFSZ 25
#define SIGVTALRM 26
#define SIGPROF 27
#define SIGWINCH 28
#define SIGIO 29
#define SIGPOLL SIGIO
#define SIGSYS 31
#define NSIG 32
#define _NSIG NSIG

typedef int sig_atomic_t;
/* Bit N is signal N. */
typedef unsigned long sigset_t;
typedef void (*sighandler_t)(int);

#define SIG_DFL ((sighandler_t)0)
#define SIG_IGN ((sighandler_t)1)
#define SIG_ERR ((sighandler_t)-1)

union sigval {
    int sival_int;
    void *sival_ptr;
};

typedef struct {
    int si_signo;
    int si_code;
    int si_errno;
    pid_t si_pid;
    uid_t si_uid;
    union sigval si_value;
} siginfo_t;

enum { SI_USER = 0, SI_TKILL = -6 };

/* POSIX lets programs ask by #ifdef. */
#define SI_USER SI_USER
#define SI_TKILL SI_TKILL

struct sigaction {
    union {
        sighandler_t sa_handler;
        /* With SA_SIGINFO; the context is NULL. */
        void (*sa_sigaction)(int signal, siginfo_t *information, void *context);
    };
    sigset_t sa_mask;
    int sa_flags;
};

#define SA_NOCLDSTOP 1
#define SA_NOCLDWAIT 2
#define SA_SIGINFO 4
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000

enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };

#define SIG_BLOCK SIG_BLOCK
#define SIG_UNBLOCK SIG_UNBLOCK
#define SIG_SETMASK SIG_SETMASK

/* 0, or -1 and EINVAL: no such signal (1 to 31 are), or one whose action cannot be changed. */
int sigaction(int signal, const struct sigaction *action, struct sigaction *old);
sighandler_t signal(int signal, sighandler_t handler);

int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int signal);
int sigdelset(sigset_t *set, int signal);
int sigismember(const sigset_t *set, int signal);

/* The caller's mask, which threads that it creates begin with. 0 or EINVAL; sigprocmask -1. */
int pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int sigprocmask(int how, const sigset_t *set, sigset_t *old);
int sigpending(sigset_t *set);

/* 0, EINVAL, or ESRCH (no such thread). Signal 0 only looks whether the thread is there. */
int pthread_kill(pthread_t thread, int signal);
/* To the program: to a thread that waits for the signal, or to one that does not block it. -1 and
 * ESRCH for any other process, of which there is none. */
int kill(pid_t process, int signal);
int raise(int signal);

/* Cancellation points. sigwait gives 0 or EINVAL; sigsuspend and pause return -1 and EINTR. */
int sigwait(const sigset_t *set, int *signal);
int sigwaitinfo(const sigset_t *set, siginfo_t *information);
int sigtimedwait(const sigset_t *set, siginfo_t *information, const struct timespec *span);
int sigsuspend(const sigset_t *mask);
int pause(void);

#endif
