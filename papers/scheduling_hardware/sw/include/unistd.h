/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNISTD_H
#define UNISTD_H

#include <sys/types.h>

#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2

/* What there is of POSIX.1-2008. There are no processes, files, real-time signals, message queues,
 * timers, CPU-time clocks, or sporadic servers. */
#define _POSIX_VERSION 200809L
#define _POSIX_THREADS 200809L
#define _POSIX_THREAD_ATTR_STACKADDR 200809L
#define _POSIX_THREAD_ATTR_STACKSIZE 200809L
#define _POSIX_THREAD_PRIORITY_SCHEDULING 200809L
#define _POSIX_THREAD_PRIO_INHERIT 200809L
#define _POSIX_THREAD_PRIO_PROTECT 200809L
#define _POSIX_THREAD_PROCESS_SHARED 200809L
#define _POSIX_THREAD_SAFE_FUNCTIONS 200809L
#define _POSIX_PRIORITY_SCHEDULING 200809L
#define _POSIX_SEMAPHORES 200809L
#define _POSIX_SPIN_LOCKS 200809L
#define _POSIX_BARRIERS 200809L
#define _POSIX_READER_WRITER_LOCKS 200809L
#define _POSIX_TIMEOUTS 200809L
#define _POSIX_CLOCK_SELECTION 200809L
#define _POSIX_MONOTONIC_CLOCK 200809L

#define _SC_CLK_TCK 2
#define _SC_PRIORITY_SCHEDULING 10
#define _SC_MAPPED_FILES 16
#define _SC_SEMAPHORES 21
#define _SC_VERSION 29
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE _SC_PAGESIZE
#define _SC_SEM_NSEMS_MAX 32
#define _SC_SEM_VALUE_MAX 33
#define _SC_THREADS 67
#define _SC_THREAD_SAFE_FUNCTIONS 68
#define _SC_THREAD_DESTRUCTOR_ITERATIONS 73
#define _SC_THREAD_KEYS_MAX 74
#define _SC_THREAD_STACK_MIN 75
#define _SC_THREAD_THREADS_MAX 76
#define _SC_THREAD_ATTR_STACKADDR 77
#define _SC_THREAD_ATTR_STACKSIZE 78
#define _SC_THREAD_PRIORITY_SCHEDULING 79
#define _SC_THREAD_PRIO_INHERIT 80
#define _SC_THREAD_PRIO_PROTECT 81
#define _SC_THREAD_PROCESS_SHARED 82
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
#define _SC_BARRIERS 133
#define _SC_CLOCK_SELECTION 137
#define _SC_CPUTIME 138
#define _SC_THREAD_CPUTIME 139
#define _SC_MONOTONIC_CLOCK 149
#define _SC_READER_WRITER_LOCKS 153
#define _SC_SPIN_LOCKS 154
#define _SC_TIMEOUTS 164
#define _PC_NAME_MAX 3
#define _PC_PATH_MAX 4

void _exit(int status) __attribute__((noreturn));
/* -1 and EINTR: a signal was handled. */
int usleep(useconds_t microseconds);
/* The seconds that were left when a signal was handled. */
unsigned sleep(unsigned seconds);
/* SIGALRM so many seconds from now, instead of an earlier request (0: none); returns the seconds
 * that were left of that. It takes a thread. */
unsigned alarm(unsigned seconds);
/* -1 without errno: no such limit, or not there; -1 and EINVAL: no such name. */
long sysconf(int name);
long pathconf(const char *path, int name);

/* The program is process 1 of user 0, and there is no other. */
pid_t getpid(void);
pid_t getppid(void);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
/* -1 and ENOSYS. */
pid_t fork(void);
int execl(const char *path, const char *argument, ...);

/* The console: files 1 and 2 are written, file 0 is at its end. -1 and EBADF for any other. */
ssize_t read(int file, void *to, size_t size);
ssize_t write(int file, const void *from, size_t size);
int close(int file);
/* There are no files: -1 and ENOSYS. */
int unlink(const char *path);
int ftruncate(int file, off_t size);
int pipe(int files[2]);

#endif
