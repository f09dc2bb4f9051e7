/* SPDX-License-Identifier: Apache-2.0 */
/* affinity: the first listing of section 3 of the paper, and what becomes of it.
 *
 *   affinity [CPU]        (the paper's program has CPU 10 built in)
 *
 * Changed: the CPU is an argument, because few machines have an eleventh; what the call returned,
 * which the paper leaves in rv, is printed as one JSON line together with where the program is. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
    int rv;
    cpu_set_t cpu_mask;
    int cpu = argc > 1 ? atoi(argv[1]) : 10;

    CPU_ZERO(&cpu_mask);
    CPU_SET(cpu, &cpu_mask);
    rv = sched_setaffinity((pid_t)0, sizeof(cpu_mask), &cpu_mask);

    int error = rv == 0 ? 0 : errno;
    CPU_ZERO(&cpu_mask);
    sched_getaffinity((pid_t)0, sizeof(cpu_mask), &cpu_mask);
    printf("{\"cpu\":%d,\"rv\":%d,\"errno\":%d,\"allowed\":%d,\"on\":%d}\n", cpu, rv, error,
           CPU_COUNT(&cpu_mask), sched_getcpu());
    return 0;
}
