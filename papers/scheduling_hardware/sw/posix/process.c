/* SPDX-License-Identifier: Apache-2.0 */
/* What programs ask of processes and files, of which the machine has none but the program itself
 * and its console. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESS = 1, PARENT = 0 };

static int not_there(int error)
{
    errno = error;
    return -1;
}

pid_t getpid(void)
{
    return PROCESS;
}

pid_t getppid(void)
{
    return PARENT;
}

uid_t getuid(void)
{
    return 0;
}

uid_t geteuid(void)
{
    return 0;
}

gid_t getgid(void)
{
    return 0;
}

pid_t fork(void)
{
    return not_there(ENOSYS);
}

int execl(const char *path, const char *argument, ...)
{
    (void)path;
    (void)argument;
    return not_there(ENOSYS);
}

pid_t wait(int *status)
{
    (void)status;
    return not_there(ECHILD);
}

pid_t waitpid(pid_t process, int *status, int options)
{
    (void)process;
    (void)status;
    (void)options;
    return not_there(ECHILD);
}

int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare;
    (void)parent;
    (void)child;
    return 0;
}

int open(const char *path, int flags, ...)
{
    (void)path;
    (void)flags;
    return not_there(ENOSYS);
}

int close(int file)
{
    return file >= STDIN_FILENO && file <= STDERR_FILENO ? 0 : not_there(EBADF);
}

int unlink(const char *path)
{
    (void)path;
    return not_there(ENOSYS);
}

int ftruncate(int file, off_t size)
{
    (void)file;
    (void)size;
    return not_there(ENOSYS);
}

int pipe(int files[2])
{
    (void)files;
    return not_there(ENOSYS);
}

int mkdir(const char *path, mode_t mode)
{
    (void)path;
    (void)mode;
    return not_there(ENOSYS);
}

int mkstemp(char *path)
{
    (void)path;
    return not_there(ENOSYS);
}

char *getenv(const char *name)
{
    (void)name;
    return NULL;
}

int system(const char *command)
{
    return command == NULL ? 0 : not_there(ENOSYS);
}

/* Nothing is ever typed. */
ssize_t read(int file, void *to, size_t size)
{
    (void)to;
    (void)size;
    return file == STDIN_FILENO ? 0 : not_there(EBADF);
}

ssize_t write(int file, const void *from, size_t size)
{
    if (file != STDOUT_FILENO && file != STDERR_FILENO)
        return not_there(EBADF);
    return (ssize_t)fwrite(from, 1, size, file == STDOUT_FILENO ? stdout : stderr);
}

int shm_open(const char *name, int flags, mode_t mode)
{
    (void)name;
    (void)flags;
    (void)mode;
    return not_there(ENOSYS);
}

int shm_unlink(const char *name)
{
    (void)name;
    return not_there(ENOSYS);
}
