/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind ours: the program's other preloaded libraries first, then libc.
 *
 * 1. The pointers of malloc and its kin, of mmap and its kin and exit_now are callable at any time.
 * The first ones point to functions that resolve all of them; dlsym may allocate while it runs,
 * which a small static arena serves. The others are called after OKOSU_NEXT_HAS().
 * 2. Hooks that have nothing to do jump through these pointers and cost nothing else. */
#pragma once

#include "export.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <threads.h>

struct okosu_next {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    int (*malloc_trim)(size_t);
    void (*free_sized)(void *, size_t);
    void (*free_aligned_sized)(void *, size_t, size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    int (*mprotect)(void *, size_t, int);
    int (*pkey_mprotect)(void *, size_t, int, int);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*madvise)(void *, size_t, int);
    int (*mlock)(const void *, size_t);
    int (*mlock2)(const void *, size_t, unsigned);
    void *(*shmat)(int, const void *, int);
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*thrd_create)(thrd_t *, thrd_start_t, void *);
    int (*sched_getaffinity)(pid_t, size_t, cpu_set_t *);
    int (*sched_setaffinity)(pid_t, size_t, const cpu_set_t *);
    int (*pthread_getaffinity_np)(pthread_t, size_t, cpu_set_t *);
    int (*pthread_setaffinity_np)(pthread_t, size_t, const cpu_set_t *);
    int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                       const posix_spawnattr_t *, char *const[], char *const[]);
    int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                        const posix_spawnattr_t *, char *const[], char *const[]);
    int (*system)(const char *);
    FILE *(*popen)(const char *, const char *);
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execv)(const char *, char *const[]);
    int (*execvp)(const char *, char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
    int (*register_atfork)(void (*)(void), void (*)(void), void (*)(void), void *);
    int (*prctl)(int, ...);
    void (*exit_now)(int);
};

extern OKOSU_LOCAL struct okosu_next okosu_next;

/* Resolves everything; harmless to repeat. */
void okosu_next_resolve(void);

/* Resolves one function if it is not yet resolved: it may come with a library that was loaded
 * later. */
bool okosu_next_find(void *slot, const char *name);

#define OKOSU_NEXT_HAS(name) (okosu_next.name || okosu_next_find(&okosu_next.name, #name))
