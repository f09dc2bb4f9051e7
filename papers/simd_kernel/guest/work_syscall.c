/* SPDX-License-Identifier: Apache-2.0 */
/* work_syscall REPETITIONS: asks for its process id by a real system call; each is an operation. It
 * stresses nothing but the way into the kernel and back: under User-Mode Linux two ptrace stops and
 * the saving and restoring of registers, and no copy of data. */
#include "work.h"

#include <sys/syscall.h>

int main(int argc, char **argv)
{
    long reps;

    work_arguments(argc, argv, "REPETITIONS", 1, &reps);
    long self = getpid();
    double start = work_now();
    for (long i = 0; i < reps; i++)
        if (syscall(SYS_getpid) != self)
            work_wrong("getpid");
    work_report(reps, work_now() - start, 0);
    return 0;
}
