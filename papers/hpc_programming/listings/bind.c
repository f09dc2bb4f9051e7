/* SPDX-License-Identifier: Apache-2.0 */
/* bind: the first listing of section 4 of the paper, 1,000,000 bytes on node 0, and what becomes
 * of it.
 *
 * Changed: the policies come from the kernel's own <linux/mempolicy.h> instead of libnuma's
 * <numaif.h>. Added: the result of the call, the node of each page after a first touch, and what
 * the kernel makes of `maxnode`, as one JSON line.
 *
 * The paper calls maxnode the greatest node. It is a number of bits, of which Linux reads one less
 * (get_nodes() in mm/mempolicy.c): with 1 it reads no bit, and node 0 is refused; with 2 it reads
 * node 0; with the paper's 8 it reads nodes 0 to 6, enough for the paper's four. */
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE 1000000

static int bind_errno(char *a, unsigned long mem_mask, unsigned long maxnode)
{
    return syscall(SYS_mbind, a, SIZE, MPOL_BIND, &mem_mask, maxnode, MPOL_MF_STRICT) == 0 ? 0
                                                                                           : errno;
}

int main(void)
{
    char *a;
    unsigned long mem_mask;

    a = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mem_mask = 0x1;
    long rv = syscall(SYS_mbind, a, SIZE, MPOL_BIND, &mem_mask, 0x8, MPOL_MF_STRICT);

    int error = rv == 0 ? 0 : errno;
    memset(a, 1, SIZE);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (SIZE + page - 1) / page, elsewhere = 0;
    for (size_t i = 0; i < pages; i++) {
        void *address = a + i * page;
        int node = -1;
        if (syscall(SYS_move_pages, 0, 1UL, &address, NULL, &node, 0) != 0 || node != 0)
            elsewhere++;
    }
    printf("{\"rv\":%ld,\"errno\":%d,\"page\":%zu,\"aligned\":%d,\"pages\":%zu,\"elsewhere\":%zu,"
           "\"maxnode_1\":%d,\"maxnode_2\":%d,\"unaligned\":%d}\n",
           rv, error, page, (size_t)a % page == 0, pages, elsewhere, bind_errno(a, 0x1, 1),
           bind_errno(a, 0x1, 2), bind_errno(a + 16, 0x1, 8));
    munmap(a, SIZE);
}
