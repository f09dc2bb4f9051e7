/* SPDX-License-Identifier: Apache-2.0 */
/* work_spawn REPETITIONS: forks a child that exits at once, and waits for it; that is an operation.
 * It stresses the creation and the end of processes: page tables, descriptors, signals. Only the few
 * pages that both processes touch are copied. It is the shape of UnixBench's "process creation". */
#include "work.h"

int main(int argc, char **argv)
{
    long reps;

    work_arguments(argc, argv, "REPETITIONS", 1, &reps);
    double start = work_now();
    for (long i = 0; i < reps; i++) {
        int status = (int)(i % 128);
        pid_t child = fork();

        if (child < 0)
            work_fail("fork");
        if (child == 0)
            _exit(status);
        if (work_wait(child) != status)
            work_wrong("exit status");
    }
    work_report(reps, work_now() - start, 0);
    return 0;
}
