/* SPDX-License-Identifier: Apache-2.0 */
/* prezero_process: what a program may do to its threads, descriptors and namespaces while a pool
 * serves it. It prints its mode; exit status 1 names what is wrong. */
#include "block_check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void use_memory(int times)
{
    for (int i = 0; i < times; i++) {
        void *p = malloc(4 * MIB);

        CHECK(p);
        *(volatile char *)p = 1;
        free(p);
    }
}

static int survived;

static void *use_when_cancelled(void *arg)
{
    (void)arg;
    pthread_cancel(pthread_self());
    use_memory(20);
    survived++;
    pthread_testcancel();
    return NULL;
}

/* malloc and free are no cancellation points, whether they make the pool or find it asleep. */
static void check_cancelled(void)
{
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        void *end;

        CHECK(!pthread_create(&thread, NULL, use_when_cancelled, NULL));
        CHECK(!pthread_join(thread, &end) && end == PTHREAD_CANCELED);
        CHECK(survived == i + 1);
        use_memory(i);
        usleep(100000);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } modes[] = {{"cancelled", check_cancelled}};

    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].check();
            return puts(modes[i].name) < 0;
        }
    }
    return 2;
}
