/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the launcher costs: spawns `PROGRAM` plainly and through okosu-run in turn, and prints the
 * median times.
 *
 *   launch_overhead ROUNDS OKOSU-RUN PROGRAM [OPTION...]
 *
 * The time is from just before vfork to the child's reaping, so that it holds the exec, the dynamic
 * loader of both programs and the exit; the order within a round alternates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double spawn_ms(char *const argv[])
{
    double begun = now_ms();
    pid_t child = vfork();
    if (child == 0) {
        execve(argv[0], argv, environ);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
        fprintf(stderr, "launch_overhead: %s did not end well (status %d)\n", argv[0], status);
        exit(1);
    }
    return now_ms() - begun;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int rounds = argc > 3 ? atoi(argv[1]) : 0;
    if (rounds < 1) {
        fprintf(stderr, "usage: launch_overhead ROUNDS OKOSU-RUN PROGRAM [OPTION...]\n");
        return 2;
    }
    char *plain[] = {argv[3], NULL};
    char **led = calloc((size_t)argc + 2, sizeof(*led));
    double *times[2] = {calloc((size_t)rounds, sizeof(double)),
                        calloc((size_t)rounds, sizeof(double))};
    if (led == NULL || times[0] == NULL || times[1] == NULL)
        return 1;
    int n = 0;
    led[n++] = argv[2];
    for (int i = 4; i < argc; i++)
        led[n++] = argv[i];
    led[n++] = "--";
    led[n] = argv[3];
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < 2; k++) {
            int through = (r + k) % 2;
            times[through][r] = spawn_ms(through ? led : plain);
        }
    for (int k = 0; k < 2; k++)
        qsort(times[k], (size_t)rounds, sizeof(double), ascending);
    double a = times[0][rounds / 2], b = times[1][rounds / 2];
    printf("%.3f ms plain, %.3f ms through okosu-run: %.3f ms more (medians of %d)\n", a, b, b - a,
           rounds);
    free(led);
    free(times[0]);
    free(times[1]);
    return 0;
}
