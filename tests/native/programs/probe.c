/* SPDX-License-Identifier: Apache-2.0 */
/* Subcommand dispatch and helpers of the probe (see probe.h). */
#include "probe.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

long proc_kb(const char *file, const char *field)
{
    static char text[8192];
    int fd = open(file, O_RDONLY);
    const char *at;
    ssize_t got;

    CHECK(fd >= 0);
    got = read(fd, text, sizeof text - 1);
    close(fd);
    CHECK(got > 0);
    text[got] = '\0';
    at = strstr(text, field);
    CHECK(at);
    return strtol(at + strlen(field), NULL, 10);
}

void run_checked(void *(*routine)(void *), int threads)
{
    pthread_t ids[64];
    void *result;
    int i;

    CHECK(threads <= 64);
    for (i = 0; i < threads; i++)
        CHECK(pthread_create(&ids[i], NULL, routine, (void *)(size_t)i) == 0);
    for (i = 0; i < threads; i++) {
        CHECK(pthread_join(ids[i], &result) == 0);
        CHECK(result == NULL);
    }
}

static bool run_from(const struct command *table, int argc, char **argv, int *status)
{
    for (; table->name; table++) {
        if (strcmp(table->name, argv[0]) == 0) {
            *status = table->run(argc, argv);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    int status = 2;

    if (argc < 2 || (!run_from(memory_commands, argc - 1, argv + 1, &status) &&
                     !run_from(process_commands, argc - 1, argv + 1, &status) &&
                     !run_from(legal_commands, argc - 1, argv + 1, &status)))
        fprintf(stderr, "probe: no such command\n");
    return status;
}
