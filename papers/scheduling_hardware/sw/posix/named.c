/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores by name. A name that is unlinked is free at once; its semaphore stays until the last
 * one has closed it. */
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"

struct named {
    sem_t sem;
    struct named *next;
    unsigned opened;
    bool unlinked;
    char name[];
};

static struct lock lock;
static struct named *all;

static void enter(void)
{
    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
}

static int failed(int error)
{
    lock_release(&lock);
    errno = error;
    return -1;
}

/* Without the slash at its beginning; 0 or an error. */
static int check(const char **name)
{
    if (strlen(*name) > NAME_MAX)
        return ENAMETOOLONG;
    if (**name == '/')
        (*name)++;
    return **name == '\0' || strchr(*name, '/') != NULL ? EINVAL : 0;
}

static struct named *find(const char *name)
{
    struct named *at = all;

    while (at != NULL && (at->unlinked || strcmp(at->name, name) != 0))
        at = at->next;
    return at;
}

static void drop(struct named *named)
{
    struct named **link = &all;

    if (named->opened > 0 || !named->unlinked)
        return;
    while (*link != named)
        link = &(*link)->next;
    *link = named->next;
    free(named);
}

static struct named *make(const char *name, unsigned value, int *error)
{
    struct named *named = NULL;

    if (value > SEM_VALUE_MAX) {
        *error = EINVAL;
        return NULL;
    }
    named = malloc(sizeof(*named) + strlen(name) + 1);
    if (named == NULL) {
        *error = ENOSPC;
        return NULL;
    }
    *named = (struct named){.sem = {.value = value}, .next = all};
    strcpy(named->name, name);
    all = named;
    return named;
}

sem_t *sem_open(const char *name, int flags, ...)
{
    struct named *named = NULL;
    int error = check(&name);

    enter();
    if (error == 0) {
        named = find(name);
        if (named != NULL && (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) {
            error = EEXIST;
        } else if (named == NULL && (flags & O_CREAT) == 0) {
            error = ENOENT;
        } else if (named == NULL) {
            va_list list;
            unsigned value;

            va_start(list, flags);
            va_arg(list, mode_t);
            value = va_arg(list, unsigned);
            va_end(list);
            named = make(name, value, &error);
        }
    }
    if (error != 0) {
        failed(error);
        return SEM_FAILED;
    }
    named->opened++;
    lock_release(&lock);
    return &named->sem;
}

int sem_close(sem_t *sem)
{
    struct named *at;

    enter();
    for (at = all; at != NULL && &at->sem != sem; at = at->next)
        ;
    if (at == NULL || at->opened == 0)
        return failed(EINVAL);
    at->opened--;
    drop(at);
    lock_release(&lock);
    return 0;
}

int sem_unlink(const char *name)
{
    int error = check(&name);
    struct named *named;

    enter();
    named = error == 0 ? find(name) : NULL;
    if (named == NULL)
        return failed(error == ENAMETOOLONG ? error : ENOENT);
    named->unlinked = true;
    drop(named);
    lock_release(&lock);
    return 0;
}
