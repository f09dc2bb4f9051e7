/* SPDX-License-Identifier: Apache-2.0 */
/* Prints more than the buffer in front of a serial line holds, at once and from two threads, on both streams; ends with a status of 7 bits. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *talk(void *name)
{
    for (int line = 0; line < 3; line++) {
        pthread_mutex_lock(&lock);
        printf("%s says line %d, which is longer than sixteen bytes\n", (const char *)name, line);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t other;

    if (pthread_create(&other, NULL, talk, "other") != 0)
        return 1;
    talk("main");
    pthread_join(other, NULL);
    fprintf(stderr, "%d arguments, the last %s\n", argc - 1, argv[argc - 1]);
    return 93;
}
