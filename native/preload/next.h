/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind ours: the program's other preloaded libraries first, then libc.
 *
 * 1. The pointers of malloc and its kin, of mmap and its kin and exit_now are callable at any time.
 * The first ones point to functions that resolve all of them; dlsym may allocate while it runs,
 * which a small static arena serves. The others are called after OKOSU_NEXT_HAS().
 * 2. Hooks that have nothing to do jump through these pointers and cost nothing else. */
#pragma once

#include "export.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <threads.h>
#include <unistd.h>

/* glibc 2.34. */
int execveat(int folder, const char *path, char *const argv[], char *const env[], int flags);

/* Those that are resolved together. */
#define OKOSU_NEXT_FUNCTIONS(X)                                                                    \
    X(malloc);                                                                                     \
    X(free);                                                                                       \
    X(calloc);                                                                                     \
    X(realloc);                                                                                    \
    X(memalign);                                                                                   \
    X(aligned_alloc);                                                                              \
    X(posix_memalign);                                                                             \
    X(valloc);                                                                                     \
    X(pvalloc);                                                                                    \
    X(malloc_usable_size);                                                                         \
    X(malloc_trim);                                                                                \
    X(mmap);                                                                                       \
    X(munmap);                                                                                     \
    X(mprotect);                                                                                   \
    X(pkey_mprotect);                                                                              \
    X(mremap);                                                                                     \
    X(madvise);                                                                                    \
    X(mlock);                                                                                      \
    X(mlock2);                                                                                     \
    X(shmat);                                                                                      \
    X(shmdt);                                                                                      \
    X(pthread_create);                                                                             \
    X(thrd_create);                                                                                \
    X(sched_getaffinity);                                                                          \
    X(sched_setaffinity);                                                                          \
    X(pthread_getaffinity_np);                                                                     \
    X(pthread_setaffinity_np);                                                                     \
    X(posix_spawn);                                                                                \
    X(posix_spawnp);                                                                               \
    X(system);                                                                                     \
    X(popen);                                                                                      \
    X(execve);                                                                                     \
    X(execv);                                                                                      \
    X(execvp);                                                                                     \
    X(execvpe);                                                                                    \
    X(fexecve);                                                                                    \
    X(execveat);                                                                                   \
    X(prctl);

#define OKOSU_NEXT_POINTER(name) __typeof__(name) *name
struct okosu_next {
    OKOSU_NEXT_FUNCTIONS(OKOSU_NEXT_POINTER)
    /* C23's, which an older libc has not. */
    void (*free_sized)(void *, size_t);
    void (*free_aligned_sized)(void *, size_t, size_t);
    int (*register_atfork)(void (*)(void), void (*)(void), void (*)(void), void *);
    void (*exit_now)(int);
};

extern OKOSU_LOCAL struct okosu_next okosu_next;

/* Resolves everything; harmless to repeat. */
void okosu_next_resolve(void);

/* Resolves one function if it is not yet resolved: it may come with a library that was loaded
 * later. */
bool okosu_next_find(void *slot, const char *name);

#define OKOSU_NEXT_HAS(name) (okosu_next.name || okosu_next_find(&okosu_next.name, #name))
