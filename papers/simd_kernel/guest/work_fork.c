/* SPDX-License-Identifier: Apache-2.0 */
/* work_fork PAGES REPETITIONS: forks a child that writes one byte to each of PAGES pages of 4096
 * bytes that it shares with its parent, and exits; that is an operation. It stresses the copying of
 * page tables and, for each page, a write fault and copy-on-write: one memcpy of 4096 bytes. The
 * child checks that it sees its parent's bytes, the parent that it does not see the child's. */
#include "work.h"

#define PAGE 4096

/* In the child: write to each page, and check that the copy that this made is of the parent's page. */
static int dirty(unsigned char *memory, long pages, const unsigned char *expected)
{
    for (long page = 0; page < pages; page++) {
        unsigned char *at = memory + page * PAGE;
        volatile unsigned char *byte = at + page % PAGE;

        *byte = (unsigned char)~expected[page % PAGE];
        *byte = expected[page % PAGE];
        if (memcmp(at, expected, PAGE))
            return 1;
        *byte = (unsigned char)~expected[page % PAGE];
    }
    return 0;
}

int main(int argc, char **argv)
{
    static unsigned char expected[PAGE];
    long numbers[2];

    work_arguments(argc, argv, "PAGES REPETITIONS", 2, numbers);
    size_t total = (size_t)numbers[0] * PAGE;
    unsigned char *memory = work_buffer(total);
    work_fill(expected, PAGE, 1);
    for (long page = 0; page < numbers[0]; page++)
        memcpy(memory + page * PAGE, expected, PAGE);
    double start = work_now();
    for (long rep = 0; rep < numbers[1]; rep++) {
        pid_t child = fork();

        if (child < 0)
            work_fail("fork");
        if (child == 0)
            _exit(dirty(memory, numbers[0], expected));
        if (work_wait(child))
            work_wrong("fork, in the child");
    }
    double seconds = work_now() - start;
    for (long page = 0; page < numbers[0]; page++)
        if (memcmp(memory + page * PAGE, expected, PAGE))
            work_wrong("fork, in the parent");
    work_report(numbers[1], seconds, (long long)total * numbers[1]);
    return 0;
}
