/* SPDX-License-Identifier: Apache-2.0 */
/* node_write: the sample program of section 4 of the paper. Write bandwidth from a CPU to a node.
 *
 *   node_write CPU NODE [BYTES]
 *
 * Changed: the paper's macro has "%rdx" with one % in this listing, which no compiler takes; this
 * uses the one of section 2. The policies come from <linux/mempolicy.h>. BYTES can be given, for
 * machines with less memory. What the system calls return, which the paper drops, is told on
 * stderr: where the node does not exist, its program measures memory anywhere and names that node.
 * The divisor stays the paper's 2,300,096,000 Hz, so the MB/s (of 1024 x 1024 bytes) are right only
 * on a machine with that counter; whoever reads them must scale by its own. */
#include <hpc_programming/listings/rdtsc.h>

#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N 1000000000

int main(int argc, char *argv[])
{
    char *a;
    int i, cpu, memorynode;
    unsigned long mem_mask;
    unsigned long long t1, t2;
    cpu_set_t cpu_mask;
    if (argc != 3 && argc != 4)
        return 0;
    cpu = atoi(argv[1]);
    memorynode = atoi(argv[2]);
    size_t n = argc == 4 ? strtoul(argv[3], NULL, 10) : N;

    CPU_ZERO(&cpu_mask);
    CPU_SET(cpu, &cpu_mask);
    if (sched_setaffinity((pid_t)0, sizeof(cpu_mask), &cpu_mask) != 0)
        perror("sched_setaffinity");

    a = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    mem_mask = 0x1 << memorynode;
    if (syscall(SYS_mbind, a, n, MPOL_BIND, &mem_mask, 0x8, MPOL_MF_STRICT) != 0)
        perror("mbind");

    for (i = 0; i < 2; i++) {
        RDTSC(t1);
        memset(a, 0x77, n);
        RDTSC(t2);
        printf("cpu=%2d MemoryNode=%d Memory Bandwidth=%5.0f MB/s\n", cpu, memorynode,
               (double)n / 1024 / 1024 / ((double)(t2 - t1) / 2300096000.0));
    }
    munmap(a, n);
    return 0;
}
