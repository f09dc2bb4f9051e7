/* SPDX-License-Identifier: Apache-2.0 */
/* zero_wait HOW: needs one huge page of 2 MiB for a while, and prints "had" when it has it.
 *
 *   reserve  maps one that is reserved, and leaves it alone
 *   touch    maps one that is not reserved, and writes to it
 *
 * Where all free pages are in work for an engine, the kernel makes it wait. */
#include "zero_pages.h"

int main(int argc, char **argv)
{
    int touch = argc == 2 && !strcmp(argv[1], "touch");

    if (argc != 2 || (!touch && strcmp(argv[1], "reserve") != 0)) {
        fprintf(stderr, "usage: %s reserve|touch\n", argv[0]);
        return 2;
    }
    unsigned char *page =
        mmap(NULL, ZERO_PAGE, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | (touch ? MAP_NORESERVE : 0), -1, 0);
    if (page == MAP_FAILED)
        work_fail("mmap");
    if (touch)
        page[0] = 1;
    puts("had");
    return fflush(stdout) ? 1 : 0;
}
