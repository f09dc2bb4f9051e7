/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-specific values. A thread gets room for them when it sets its first one. */
#include <stdlib.h>

#include "backend.h"
#include "keys.h"

enum { DESTRUCTOR_ROUNDS = 4 };

static struct {
    /* Odd while the key exists. Deleting the key changes it, which makes older values void. */
    unsigned life;
    void (*destructor)(void *);
} keys[PTHREAD_KEYS_MAX];

struct key_value {
    unsigned life;
    void *value;
};

static struct lock lock;

static IN_LIB void keys_lock(void)
{
    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
}

static bool exists(pthread_key_t key)
{
    return key < PTHREAD_KEYS_MAX && (keys[key].life & 1) != 0;
}

IN_LIB int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = EAGAIN;

    keys_lock();
    for (pthread_key_t at = 0; at < PTHREAD_KEYS_MAX; at++) {
        if (!exists(at)) {
            keys[at].life++;
            keys[at].destructor = destructor;
            *key = at;
            error = 0;
            break;
        }
    }
    lock_release(&lock);
    return error;
}

IN_LIB int pthread_key_delete(pthread_key_t key)
{
    int error = EINVAL;

    keys_lock();
    if (exists(key)) {
        keys[key].life++;
        error = 0;
    }
    lock_release(&lock);
    return error;
}

IN_LIB int pthread_setspecific(pthread_key_t key, const void *value)
{
    struct locals *locals = thread_locals();

    if (!exists(key))
        return EINVAL;
    if (locals->values == NULL) {
        locals->values = calloc(PTHREAD_KEYS_MAX, sizeof(struct key_value));
        if (locals->values == NULL)
            return ENOMEM;
        locals->used = 1;
    }
    locals->values[key] = (struct key_value){keys[key].life, (void *)value};
    return 0;
}

IN_LIB void *pthread_getspecific(pthread_key_t key)
{
    const struct locals *locals = thread_locals();

    if (!exists(key) || locals->values == NULL || locals->values[key].life != keys[key].life)
        return NULL;
    return locals->values[key].value;
}

IN_LIB void keys_destroy_values(struct locals *locals)
{
    bool again = locals->values != NULL;

    for (int round = 0; again && round < DESTRUCTOR_ROUNDS; round++) {
        again = false;
        for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) {
            void *value = locals->values[key].value;

            if (value == NULL || !exists(key) || locals->values[key].life != keys[key].life ||
                keys[key].destructor == NULL)
                continue;
            locals->values[key].value = NULL;
            keys[key].destructor(value);
            again = true;
        }
    }
    free(locals->values);
    locals->values = NULL;
}
