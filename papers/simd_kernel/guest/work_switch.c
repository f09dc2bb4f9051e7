/* SPDX-License-Identifier: Apache-2.0 */
/* work_switch REPETITIONS: two processes hand a number of 8 bytes to and fro through two pipes; an
 * operation is one round trip, which is two context switches. It stresses the scheduler, wake-ups
 * and the switch of address spaces; the copies are of 8 bytes. It is the shape of UnixBench's
 * "pipe-based context switching". Each side checks that the number has grown by one. */
#include "work.h"

static void child(int in, int out, long reps)
{
    for (long i = 0; i < reps; i++) {
        long token;

        work_read(in, &token, sizeof(token));
        if (token != 2 * i)
            _exit(1);
        token++;
        work_write(out, &token, sizeof(token));
    }
    _exit(0);
}

int main(int argc, char **argv)
{
    long reps;
    int there[2], back[2];

    work_arguments(argc, argv, "REPETITIONS", 1, &reps);
    if (pipe(there) || pipe(back))
        work_fail("pipe");
    double start = work_now();
    pid_t other = fork();
    if (other < 0)
        work_fail("fork");
    if (other == 0) {
        close(there[1]);
        child(there[0], back[1], reps);
    }
    close(back[1]);
    for (long i = 0; i < reps; i++) {
        long token = 2 * i;

        work_write(there[1], &token, sizeof(token));
        work_read(back[0], &token, sizeof(token));
        if (token != 2 * i + 1)
            work_wrong("context switch");
    }
    double seconds = work_now() - start;
    if (work_wait(other))
        work_wrong("context switch, in the child");
    work_report(reps, seconds, 4LL * (long long)sizeof(long) * reps);
    return 0;
}
