/* SPDX-License-Identifier: Apache-2.0 */
/* Two OpenMP threads that print where the kernel lets them run. */
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
    unsigned long words[2][128] = {{0}};
    unsigned cpu;
    int i;

#pragma omp parallel num_threads(2)
    syscall(SYS_sched_getaffinity, 0, sizeof words[0], words[omp_get_thread_num()]);

    for (i = 0; i < 2; i++) {
        printf("%d", i);
        for (cpu = 0; cpu < 8 * sizeof words[0]; cpu++) {
            if (words[i][cpu / 64] >> cpu % 64 & 1)
                printf(" %u", cpu);
        }
        printf("\n");
    }
    return 0;
}
